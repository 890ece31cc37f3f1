import { execFile } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { programEnv, programFile, programFlags } from '../programs.ts'

/** A part of the gateway that is loaded when it is first used. */
export interface Part {
  readonly name: string
  readonly module: string
  /** What its first use calls, by an export of the module: `shell.prepare`. */
  readonly call?: string
  /** Generous bounds, which a test keeps: modules, and resident memory in MB, above a process with the core and the libraries. */
  readonly most_modules: number
  readonly most_mb: number
}

/** What a part costs: resident memory, modules and time to load. */
export interface PartCost {
  readonly mb: number
  readonly modules: number
  readonly ms: number
}

const inside = (name: string): string => pathToFileURL(programFile(name)).href

/** In the order of the table in `bench/README.md`. */
export const parts: readonly Part[] = [
  { name: 'Fastify', module: 'fastify', most_modules: 250, most_mb: 30 },
  { name: 'OpenAPI and `/docs`', module: inside('plugins/docs/describe'), most_modules: 80, most_mb: 25 },
  { name: 'pages of runs', module: inside('plugins/replay/page/index'), most_modules: 200, most_mb: 40 },
  { name: 'MCP policies', module: inside('plugins/mcp/policy/index'), most_modules: 200, most_mb: 45 },
  {
    name: 'shell parser',
    module: 'guard-gateway/plugins/mcp-checks/shell',
    call: 'shell.prepare',
    most_modules: 80,
    most_mb: 50,
  },
  {
    name: 'SQL parser',
    module: 'guard-gateway/plugins/mcp-checks/sql',
    call: 'sql.prepare',
    most_modules: 60,
    most_mb: 50,
  },
  { name: 'Protocol Buffers', module: 'protobufjs/light.js', most_modules: 60, most_mb: 15 },
  { name: 'OTLP and import formats', module: '#lib/otlp', most_modules: 120, most_mb: 30 },
  { name: 'YAML', module: 'yaml', most_modules: 90, most_mb: 15 },
  { name: 'ajv', module: 'ajv', most_modules: 90, most_mb: 20 },
  {
    name: 'storage worker, without its thread',
    module: inside('plugins/storage/sqlite/worker/connection'),
    most_modules: 350,
    most_mb: 40,
  },
]

const run = promisify(execFile)

/** Loads a part in a process of its own and measures it. */
export const costOf = async ({ module, call }: Part): Promise<PartCost> => {
  const flags = [...programFlags, '--expose-gc', programFile('bench/start/part-process')]
  const env = { ...process.env, ...programEnv }
  const { stdout } = await run(process.execPath, [...flags, module, ...(call === undefined ? [] : [call])], { env })
  return JSON.parse(stdout) as PartCost
}
