import type { Room } from './stage.ts'

const LONG_TEXT = 300
const LONG_LIST = 12
/** Lines that hold whole requests, system prompts and schemas, which nobody reads back. */
const LEFT_OUT = /^\{"type":"api-request/

/** A session file without what differs from machine to machine: ids are counted, times begin in 2026, long texts are cut. */
export const normalised = (
  name: string,
  whole: string,
  names: Numbering,
  { project, home }: Pick<Room, 'project' | 'home'>,
): { readonly path: string; readonly content: string } => {
  const shift = shiftOf(whole)
  const text = (line: string): string =>
    line
      .replaceAll(project, '/home/dev/shop')
      .replaceAll(home, '/home/dev')
      .replace(/"osVersion":"[^"]*"/g, '"osVersion":"Linux"')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (time) => new Date(Date.parse(time) + shift).toISOString())
      .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => names.uuid(id))
      .replace(/"agentId":"([0-9a-f]{17})"/g, (_all, id) => `"agentId":"${names.agent(id)}"`)
      .replace(/\ba[0-9a-f]{16}\b/g, (id) => names.agent(id))
  const lines = whole.split('\n').filter((line) => !LEFT_OUT.test(line))
  const content = lines.map((line) => (line === '' ? '' : JSON.stringify(shortened(JSON.parse(text(line))))))
  const path = text(name)
    .replace(/^-[^/]*project/, '-home-dev-shop')
    .replace(/\d{4}\/\d\d\/\d\d\//, '2026/01/01/')
    .replace(/session-[\dT-]{16}-[0-9a-f]{8}/, 'session-2026-01-01T00-00-00000000')
    .replace(/rollout-[\dT-]{19}-/, 'rollout-2026-01-01T00-00-00-')
  return { path, content: content.join('\n') }
}

const BASE = Date.UTC(2026, 0, 1)

/** How far the times of a file are from where they shall begin. */
const shiftOf = (text: string): number => {
  const first = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/.exec(text)?.[0]
  return first === undefined ? 0 : BASE - Date.parse(first)
}

/** Gives ids numbers in the order in which they come; one numbering serves all files of a run. */
export class Numbering {
  readonly #uuids = new Map<string, string>()
  readonly #agents = new Map<string, string>()
  readonly #run: number

  /** `run`: a number that no other run has. */
  constructor(run: number) {
    this.#run = run
  }

  uuid(id: string): string {
    return this.#numbered(
      this.#uuids,
      id,
      (number) => `${String(this.#run).padStart(8, '0')}-0000-4000-8000-${number.padStart(12, '0')}`,
    )
  }

  agent(id: string): string {
    return this.#numbered(this.#agents, id, (number) => `a${number.padStart(16, '0')}`)
  }

  #numbered(known: Map<string, string>, id: string, named: (number: string) => string): string {
    const name = known.get(id) ?? named((known.size + 1).toString(16))
    known.set(id, name)
    return name
  }
}

const shortened = (value: unknown): unknown => {
  if (typeof value === 'string') return value.length > LONG_TEXT ? `${value.slice(0, 80)} …` : value
  if (Array.isArray(value)) return value.slice(0, LONG_LIST).map(shortened)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortened(member)]))
}
