import { doubled, type Misbehaviour } from './misbehave.ts'
import type { TestTool } from './tool.ts'
import { askingTools } from './tools/asking.ts'
import { contentTools } from './tools/content.ts'
import { deedTools } from './tools/deeds.ts'
import { shapeTools } from './tools/shapes.ts'
import { timingTools } from './tools/timing.ts'

/** How a test server is to be. */
export interface TestServerOptions {
  /** Tools on one page of a list; all of them if absent. */
  readonly page_size?: number
  readonly misbehave?: Misbehaviour
}

/** What all sessions of a test server share: its tools, their files, and how often they were listed. */
export class TestServer {
  readonly misbehave: Misbehaviour | undefined
  readonly #pageSize: number
  readonly #tools: readonly TestTool[]
  #lists = 0

  constructor({ page_size = Number.POSITIVE_INFINITY, misbehave }: TestServerOptions = {}) {
    this.#pageSize = page_size
    this.misbehave = misbehave
    const shapes = shapeTools(() => this.#lists)
    this.#tools = [...contentTools, ...timingTools, ...askingTools, ...deedTools(), ...shapes]
  }

  tool(name: string): TestTool | undefined {
    return this.#tools.find((tool) => tool.name === name)
  }

  /** A page of the list of tools; undefined if there is none at this cursor. */
  page(cursor: string | undefined): object | undefined {
    const start = cursor === undefined ? 0 : Number(cursor)
    if (!Number.isSafeInteger(start) || start < 0) return undefined
    if (start === 0) this.#lists++
    if (this.misbehave === 'endless-cursor') return endless(start)
    const tools = this.#listed()
    if (start > tools.length) return undefined
    const end = start + this.#pageSize
    return { tools: tools.slice(start, end), ...(end < tools.length ? { nextCursor: String(end) } : {}) }
  }

  #listed(): readonly object[] {
    const tools = this.#tools.map(({ name, description, inputSchema, outputSchema }) => ({
      name,
      description,
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
    }))
    if (this.misbehave !== 'late-tool' || this.#lists < 2) return tools
    return [...tools, { name: 'late_tool', description: 'Came later', inputSchema: { type: 'object' } }]
  }

  /** The result of a list of tools or of a call as JSON text. */
  written(result: object): string {
    return this.misbehave === 'duplicate-json' ? doubled(result) : JSON.stringify(result)
  }
}

const ENDLESS = 100

const endless = (start: number): object => ({
  tools: Array.from({ length: ENDLESS }, (_, index) => ({
    name: `endless_${start + index}`,
    description: 'One more',
    inputSchema: { type: 'object' },
  })),
  nextCursor: String(start + ENDLESS),
})
