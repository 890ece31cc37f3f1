import assert from 'node:assert/strict'
import { ui } from 'guard-gateway/plugins/ui'
import { type Answer, type Bench, type BenchOptions, startReplay } from '../kit.ts'

/** A gateway with the pages of Replay. */
export interface PageBench extends Bench {
  /** The HTML of a page. Asserts its status. */
  page(path: string, status?: number): Promise<string>
  /** Sends a form as a browser or a program. */
  form(path: string, fields: Readonly<Record<string, string>>): Promise<Answer>
  /** Stores a trace as a client sends it. */
  trace(body: object): Promise<void>
}

const BROWSER = { accept: 'text/html' }

export const startPages = async (options: BenchOptions = {}): Promise<PageBench> => {
  const bench = await startReplay({ plugins: [ui({ version: '0' })], ...options })
  return {
    ...bench,
    page: async (path, status = 200) => {
      const answer = await bench.send('GET', path, undefined, BROWSER)
      assert.equal(answer.status, status, answer.text)
      assert.doesNotMatch(answer.text, /<style|\sstyle=|<script>|\son\w+="/)
      return answer.text
    },
    form: (path, fields) =>
      bench.send('POST', path, String(new URLSearchParams(fields)), {
        ...BROWSER,
        'content-type': 'application/x-www-form-urlencoded',
      }),
    trace: async (body) => {
      const { status, text } = await bench.send('POST', '/api/v1/traces', body)
      assert.ok(status < 300, text)
    },
  }
}

/** Nanoseconds since 1970, this many milliseconds after a fixed time, as writers send them. */
export const at = (ms: number): string => String(1_782_000_000_000_000_000n + BigInt(Math.round(ms * 1_000_000)))

/** The text of HTML without tags. */
export const textOf = (markup: string): string =>
  markup
    .replaceAll(/<\/?bdi>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** The HTML from the opening tag of the element with this id to the next closing tag of its name. */
export const partOf = (markup: string, id: string): string => {
  const [, name = '', rest = ''] = new RegExp(`<(\\w+) id="${id}"[^>]*>([\\s\\S]*)`).exec(markup) ?? []
  assert.notEqual(name, '', `no element has the id ${id}`)
  return rest.slice(0, rest.indexOf(`</${name}>`))
}

/** Ids of the rows of a table, in order. */
export const rowIds = (markup: string): readonly string[] =>
  [...markup.matchAll(/<tr id="([^"]*)" data-row/g)].map(([, id = '']) => id)
