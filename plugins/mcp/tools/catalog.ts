import type { Gateway } from 'guard-gateway/core'
import { sha256 } from '#lib/ids'
import { isJsonObject, readJson } from '#lib/json'
import type { Arguments } from '#lib/mcp-check'
import type { McpServer } from '#lib/mcp-transport'
import { canonicalJson } from '#lib/trace'
import type { PinState } from '../audit/enums.ts'
import type { Audit } from '../audit/index.ts'
import type { ServerFacts } from '../messages/initialize.ts'
import { type CompiledSchema, compileSchema } from '../schemas/compile.ts'
import { faultsText, namesIn, recordedText, type SchemaError } from '../schemas/error-text.ts'
import { type CompiledInput, compileInput } from '../schemas/input.ts'
import { type Definition, INSTRUCTIONS, readPage, serverDefinition } from './definition.ts'
import type { PinRows } from './pin-rows.ts'
import { Pins } from './pins.ts'
import { rewritePage } from './rewrite-list.ts'
import type { ListView, ServerTools, ValidationResult } from './server-tools.ts'
import { describeTool, type ToolDescription } from './tool-description.ts'

const MAX_TOOLS = 10_000
const MAX_PAGES = 1_000

/** A list that is being read page by page. */
interface Generation {
  readonly names: Set<string>
  pages: number
  /** Cursor of the next page. */
  next: string | undefined
}

/** The tools of one server as they were listed last, over all its sessions. */
export class ToolCatalog implements ServerTools {
  readonly #tools = new Map<string, Definition>()
  readonly #pins: Pins
  readonly #gateway: Gateway
  readonly #server: McpServer
  #generation: Generation | undefined
  #facts: ServerFacts | undefined
  /** What the server says of itself, as a thing that is pinned. */
  #instructions: Definition | undefined

  /** `pins`: where they are kept, if not in storage. */
  constructor(gateway: Gateway, server: McpServer, audit: Audit, pins?: PinRows) {
    this.#gateway = gateway
    this.#server = server
    this.#pins = new Pins(gateway, audit, server.id, pins)
  }

  /** The server has answered `initialize`. */
  initialized(facts: ServerFacts): void {
    this.#facts = facts
    this.#instructions = serverDefinition(facts)
    this.#pins.observeServer(this.#instructions)
  }

  serverPin(): PinState {
    return this.#instructions === undefined
      ? this.#pins.stateBefore(INSTRUCTIONS)
      : this.#pins.stateOfServer(this.#instructions)
  }

  async observe(result: string, cursor?: string): Promise<string | undefined> {
    const page = readPage(result, (name) => this.#tools.get(name))
    const generation = this.#begunOrGoneOn(cursor)
    this.#generation = generation
    if (generation !== undefined) {
      generation.pages++
      generation.next = page.next
      for (const { name } of page.definitions) generation.names.add(name)
      const refused = tooMany(generation)
      if (refused !== undefined) return refused
    }
    const isLast = page.next === undefined && generation !== undefined
    // first the pins: no call may be judged by a definition that was not compared
    await this.#pins.observe(page.definitions, isLast)
    for (const definition of page.definitions) this.#tools.set(definition.name, definition)
    if (isLast) this.#end(generation)
    return undefined
  }

  /** The list that the page of a cursor continues; none if a page before it is missing: such a list is not complete. */
  #begunOrGoneOn(cursor: string | undefined): Generation | undefined {
    if (cursor === undefined) return { names: new Set(), pages: 0, next: undefined }
    return this.#generation?.next === cursor ? this.#generation : undefined
  }

  /** Forgets what a whole list did not name. */
  #end(generation: Generation): void {
    if (this.#generation !== generation) return
    this.#generation = undefined
    for (const name of this.#tools.keys()) if (!generation.names.has(name)) this.#tools.delete(name)
  }

  /** What was observed stays until the next list; an incomplete list may mix old and new, so it removes nothing. */
  listChanged(): void {
    this.#generation = undefined
  }

  /** SHA-256 in hex of what the server says of itself; null before it has. */
  instructionsFingerprint(): string | null {
    return this.#instructions?.fingerprint ?? null
  }

  /** SHA-256 in hex of where the server is, what it says of itself, and all its tools; null before it has listed any. */
  serverFingerprint(): string | null {
    if (this.#tools.size === 0) return null
    const { target, command, args } = this.#server
    const { server_info = '{}', instructions = null } = this.#facts ?? {}
    const tools = [...this.#tools.values()].map(({ fingerprint }) => fingerprint).sort()
    const address = target ?? [command ?? '', ...args]
    return sha256(canonicalJson({ place: address, name: nameIn(server_info), instructions, tools }))
  }

  /** Trusts the definitions of these tools as they are now; gives the names of those that were not trusted before. `fingerprints`: rejects with VERSION_CONFLICT, nothing trusted, if one of them starts with none of these fingerprints. */
  accept(tools: readonly string[] | 'all', fingerprints?: readonly string[]): Promise<readonly string[]> {
    const listed = [...this.#tools.values(), ...(this.#instructions === undefined ? [] : [this.#instructions])]
    // before a first list here, what other processes or this one have listed earlier
    if (this.#tools.size === 0) return this.#pins.acceptStored(tools, fingerprints)
    return this.#pins.accept(tools === 'all' ? listed : listed.filter(({ name }) => tools.includes(name)), fingerprints)
  }

  names(): Iterable<string> {
    return this.#tools.keys()
  }

  /** What the tool's arguments must be, as its server says; undefined where it does not. */
  inputSchema(tool: string): unknown {
    return this.#tools.get(tool)?.inputSchema
  }

  /** Why a structured result does not fit what the tool says of its results; undefined if it does, or if that is not known. */
  async outputFault(tool: string, value: unknown): Promise<string | undefined> {
    const definition = this.#tools.get(tool)
    if (definition === undefined) return undefined
    definition.output ??= compileOutput(definition.json)
    const compiled = await definition.output
    return compiled?.usable === true ? compiled.check(value)?.recorded.message : undefined
  }

  fingerprint(tool: string): string | null {
    return this.#tools.get(tool)?.fingerprint ?? null
  }

  description(tool: string): ToolDescription | null {
    const definition = this.#tools.get(tool)
    return definition === undefined ? null : describeTool(definition.json, this.#gateway.redact)
  }

  pin(tool: string): PinState {
    const definition = this.#tools.get(tool)
    return definition === undefined ? this.#pins.stateBefore(tool) : this.#pins.state(definition)
  }

  /** Reads again which definitions are trusted; another process may have accepted some. */
  async refresh(): Promise<void> {
    const pins = [this.serverPin(), ...[...this.#tools.keys()].map((tool) => this.pin(tool))]
    if (pins.some((pin) => pin !== 'known')) await this.#pins.load(true)
  }

  validate(tool: string, args: Arguments): ValidationResult | Promise<ValidationResult> {
    return this.#pins.loaded && this.#isKnown(tool) ? this.#validate(tool, args) : this.#validateAnew(tool, args)
  }

  /** Whether nothing that happened in another process makes a difference: it may have listed the tool, or been told to trust it. */
  #isKnown(tool: string): boolean {
    return this.#tools.has(tool) && this.pin(tool) === 'known' && this.serverPin() === 'known'
  }

  async #validateAnew(tool: string, args: Arguments): Promise<ValidationResult> {
    await this.#pins.load()
    if (!this.#isKnown(tool)) for (const one of [tool, INSTRUCTIONS]) await this.#pins.refresh(one)
    return this.#validate(tool, args)
  }

  #validate(tool: string, args: Arguments): ValidationResult | Promise<ValidationResult> {
    const definition = this.#tools.get(tool)
    if (definition?.inputSchema === undefined) return { state: 'skipped' }
    return definition.compiled === undefined ? validatedFirst(definition, args) : validated(definition.compiled, args)
  }

  check(tool: string, args: Arguments): ValidationResult {
    const compiled = this.#tools.get(tool)?.compiled
    return compiled === undefined ? { state: 'skipped' } : judged(compiled, args)
  }

  shownNames(tool: string): ReadonlySet<string> {
    const definition = this.#tools.get(tool)
    if (definition === undefined) return NO_NAMES
    definition.names ??= namesIn(readJson(definition.json))
    return definition.names
  }

  rewrite(result: string, view: ListView): string {
    return rewritePage(result, view)
  }
}

const NO_NAMES: ReadonlySet<string> = new Set()

const tooMany = ({ names, pages }: Generation): string | undefined => {
  if (names.size > MAX_TOOLS) return `Upstream lists more than ${MAX_TOOLS} tools`
  return pages > MAX_PAGES ? `Upstream lists its tools on more than ${MAX_PAGES} pages` : undefined
}

const validatedFirst = async (definition: Definition, args: Arguments): Promise<ValidationResult> => {
  definition.compiled ??= await compileInput(definition.inputSchema)
  return validated(definition.compiled, args)
}

/** Synchronous for valid arguments; all errors are reported, so that an agent can correct them in one go. */
const validated = (schema: CompiledInput, args: Arguments): ValidationResult | Promise<ValidationResult> => {
  const first = judged(schema, args)
  if (!schema.usable || first.state !== 'failed') return first
  return schema.faults(args).then((faults) => failedBy(faults))
}

const judged = (schema: CompiledInput, args: Arguments): ValidationResult => {
  if (!schema.usable) return { state: 'unsupported' }
  const fault = schema.check(args)
  if (fault === undefined || fault === 'partial') return { state: fault ?? 'ok' }
  return failedBy([fault])
}

const failedBy = (faults: readonly SchemaError[]): ValidationResult => ({
  state: 'failed',
  error: faultsText(faults),
  recorded: recordedText(faults),
})

const nameIn = (json: string): unknown => {
  const info: unknown = JSON.parse(json)
  return typeof info === 'object' && info !== null && Object.hasOwn(info, 'name')
    ? (info as { readonly name: unknown }).name
    : null
}

/** The `outputSchema` in the definition of a tool, ready for use; undefined if it has none. */
const compileOutput = async (definition: string): Promise<CompiledSchema | undefined> => {
  const tool: unknown = readJson(definition)
  return isJsonObject(tool) && isJsonObject(tool.outputSchema) ? compileSchema(tool.outputSchema) : undefined
}
