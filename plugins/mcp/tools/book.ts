import {
  type Arguments,
  applyEdits,
  canonicalJson,
  type Edit,
  type Gateway,
  isScanFault,
  type JsonValue,
  type McpServer,
  memberIn,
  readJson,
  removalsFrom,
  scanJson,
  sha256,
  sourceOf,
  stringIn,
} from 'guard-gateway/core'
import type { Audit } from '../audit/index.ts'
import type { PinState } from '../audit/words.ts'
import type { ServerFacts } from '../initialize.ts'
import { type CompiledSchema, compileSchema } from '../schemas/compile.ts'
import type { ListView, Tools, Validated } from '../tools-of.ts'

interface Definition {
  readonly json: string
  readonly fingerprint: string
  readonly schema: unknown
  compiled?: CompiledSchema
}

/** The tools of one server as they were listed last. */
export class ToolBook implements Tools {
  readonly #tools = new Map<string, Definition>()

  constructor(_gateway: Gateway, _server: McpServer, _audit: Audit) {}

  met(_facts: ServerFacts): void {}

  async observe(result: string, cursor?: string): Promise<string | undefined> {
    if (cursor === undefined) this.#tools.clear()
    for (const { name, value } of toolsIn(result)) {
      const json = sourceOf(result, value)
      const definition = readJson(json) as { readonly inputSchema?: unknown }
      this.#tools.set(name, { json, fingerprint: sha256(canonicalJson(definition)), schema: definition.inputSchema })
    }
    return undefined
  }

  stale(): void {}

  serverFingerprint(): string | null {
    return null
  }

  async accept(_tools: readonly string[] | 'all'): Promise<readonly string[]> {
    return []
  }

  names(): Iterable<string> {
    return this.#tools.keys()
  }

  fingerprint(tool: string): string | null {
    return this.#tools.get(tool)?.fingerprint ?? null
  }

  pin(_tool: string): PinState {
    return 'known'
  }

  async validate(tool: string, args: Arguments): Promise<Validated> {
    const definition = this.#tools.get(tool)
    if (definition?.schema === undefined) return { state: 'skipped' }
    definition.compiled ??= await compileSchema(definition.schema)
    return this.check(tool, args)
  }

  check(tool: string, args: Arguments): Validated {
    const compiled = this.#tools.get(tool)?.compiled
    if (compiled === undefined) return { state: 'skipped' }
    if (!compiled.usable) return { state: 'unsupported' }
    const fault = compiled.check(args)
    return fault === undefined
      ? { state: 'ok' }
      : { state: 'failed', error: `${fault.pointer} ${fault.message}`.trim() }
  }

  rewrite(result: string, { hidden }: ListView): string {
    const scan = scanJson(result)
    const list = isScanFault(scan) ? undefined : memberIn(scan.root, 'tools')?.value
    if (list === undefined) return result
    const names = (list.items ?? []).map((item) => stringIn(result, memberIn(item, 'name')?.value))
    const edits: Edit[] = removalsFrom(list, (index) => hidden(names[index] ?? ''))
    return applyEdits(result, edits)
  }
}

const toolsIn = (result: string): readonly { readonly name: string; readonly value: JsonValue }[] => {
  const scan = scanJson(result)
  const list = isScanFault(scan) ? undefined : memberIn(scan.root, 'tools')?.value
  return (list?.items ?? []).flatMap((value) => {
    const name = stringIn(result, memberIn(value, 'name')?.value)
    return name === undefined ? [] : [{ name, value }]
  })
}
