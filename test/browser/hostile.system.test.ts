import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { noBrowser } from './chromium.ts'
import { at } from './data.ts'
import { startWorld, type World } from './world.ts'

const markup = '<img src=x onerror=alert(1)><script>alert(2)</script>'
const quotes = `"'\`><svg onload=alert(3)> ' autofocus onfocus=alert(4) x='`
const closing = '</title></textarea></script></svg></table></main><h1>taken over</h1>'
const directions = 'file\u202Egnp.exe \u2066nested\u2069 \u200Fright'
const controls = 'line\nnext\ttab\u0007bell\u001b[31mred\u007f'
const surrogates = 'a\ud800b\udc00c'

/** Text that does harm where it is not shown as text. */
const hostile: Readonly<Record<string, string>> = {
  'markup and quotes': markup + quotes,
  'closing tags and control characters': closing + directions + controls + surrogates,
  'a script address': 'javascript:alert(5)',
  'a word of 100 KB': 'w'.repeat(100_000),
}

/** A run that says the same in every place where a writer can say anything. */
const runSaying = (text: string) => {
  const short = text.slice(0, 200)
  const event = { name: 'policy.decision', attributes: { decision: 'block', reason_code: short, message: text } }
  return {
    name: text.slice(0, 2000),
    project_id: 'hostile',
    agent_name: short,
    task_id: short,
    tags: [short.slice(0, 60)],
    status: 'error',
    attributes: { [short]: text, url: text },
    spans: [
      {
        id: 's1',
        name: short,
        status: 'error',
        status_message: text,
        start_ns: at(Date.now(), 0),
        end_ns: at(Date.now(), 50),
        attributes: {
          'tool.name': short,
          'gen_ai.request.model': short,
          command: text,
          [short]: [text, { [short]: text }],
        },
        events: [event],
      },
    ],
    artifacts: [{ path: text.slice(0, 1000), mime_type: short.slice(0, 100), attributes: { [short]: text } }],
  }
}

describe('text that was written to do harm', { skip: noBrowser }, () => {
  let world: World
  before(async () => {
    world = await startWorld()
  })
  after(() => world.close())

  /** What is shown is one of our pages, and nothing that a writer put there acts. */
  const harmless = async (paths: readonly string[], ...statuses: readonly number[]): Promise<void> => {
    const visit = await world.open()
    for (const path of paths) {
      await visit.to(path, ...statuses)
      const found = await visit.page.evaluate(() => ({
        headings: document.querySelectorAll('h1').length,
        foreign: document.querySelectorAll('main img, main script, main iframe, [onerror], [onload], [onfocus]').length,
        addresses: [...document.querySelectorAll('a[href]')].filter(
          (link) => !/^https?:$/.test((link as HTMLAnchorElement).protocol),
        ).length,
        overridden: /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText),
      }))
      assert.deepEqual(found, { headings: 1, foreign: 0, addresses: 0, overridden: false }, path)
      for (const width of [1280, 360]) {
        await visit.page.setViewportSize({ width, height: 800 })
        assert.ok((await visit.overflow()) <= 0, `${path} is wider than ${width} px by ${await visit.overflow()}`)
      }
    }
    await visit.close()
  }

  for (const [name, text] of Object.entries(hostile)) {
    it(`${name} in every place of a run`, async () => {
      const id = await world.trace(runSaying(text))
      const ways = ['', '?view=events', '?view=artifacts', '?view=raw', '?span=s1'].map(
        (query) => `/replay/${id}${query}`,
      )
      await harmless(['/replay', ...ways, `/replay/compare?left=${id}&right=${id}`, `/replay/compare?left=${id}`])
    })
  }

  it('in an address and in a search', async () => {
    for (const text of Object.values(hostile).filter(({ length }) => length < 1000)) {
      const word = encodeURIComponent(text.toWellFormed())
      const searches = [`/replay?q=${word}`, `/replay?project_id=${word}&tag=${word}&model=${word}`]
      // a search that cannot be is told so, on a page of ours
      await harmless(searches, 200, 400, 422)
      const visit = await world.open()
      await visit.to(`/nowhere/${word}?${word}`, 404, 400)
      assert.equal(await visit.page.locator('h1').count(), 1)
      await visit.close()
    }
  })

  it('in the names of agents, projects and sessions', async () => {
    for (const text of [markup, directions, quotes].map((one) => one.slice(0, 60))) {
      const { status } = await world.api('POST', '/api/agents', { name: text })
      assert.ok(status === 201 || status === 400)
    }
    await harmless(['/', '/sessions', '/policies', '/mcp'])
  })
})
