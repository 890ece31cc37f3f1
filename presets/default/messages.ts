import { basename, relative } from 'node:path'
import type { Gateway } from 'guard-gateway/core'
import { childEnv } from '#lib/child-env'
import type { Io } from '#lib/command'
import { DEFAULT_PROJECT } from '#lib/session'
import type { Config } from './config/schema.ts'
import type { FirstRun } from './first-run.ts'

/** Message of a first run. It names the location of the key, never the key. */
export const firstRunText = ({ file, key_line, git }: FirstRun, cwd: string): string => {
  const excluded = { excluded: ' Excluded from git.', ignored: ' Git ignores it already.', none: '' }[git]
  return `Wrote ${relativePath(file, cwd)} with a new gateway key, readable by you only; the key is in line ${key_line}, gateway_key.${excluded}`
}

/** Next steps after the first start. `guard` is the command line of this program. */
export const nextSteps =
  ({ file, key_line }: FirstRun, cwd: string, guard: string) =>
  (url: string): readonly string[] => [
    '',
    `Open ${url} to watch. Next, in another terminal:`,
    `  ${guard} playground run exact-loop --mode enforce   see a loop being blocked, no provider key needed`,
    `  ${guard} run -- claude                              start an agent through the gateway`,
    `  ${guard} setup                                      write connection profiles for your agents`,
    '',
    'Any other client:',
    `  OpenAI style, base URL     ${url}/v1`,
    `  Anthropic style, base URL  ${url}`,
    `  API key                    the value of gateway_key, line ${key_line} of ${relativePath(file, cwd)}`,
    '',
    'Stop with Ctrl-C.',
  ]

/** Names the keys of the environment that are withheld from MCP servers, and the way to pass them; empty without servers or keys. */
export const withheldFromServers = ({ mcp }: Config, gateway: Gateway, { env }: Io): string => {
  const children = Object.values(mcp.servers).filter(({ transport }) => transport === 'stdio')
  const { withheld } = childEnv(env, gateway)
  const withheldNames = withheld.filter((name) => children.some((server) => server.env[name] === undefined))
  const [first] = withheldNames
  if (first === undefined) return ''
  return `MCP servers get HOME, PATH and the like of this environment, and no keys: ${withheldNames.join(', ')}. mcp.servers.<id>.env gives one back: { ${first}: "\${${first}}" }.`
}

/** Facts for the line printed at start; the mode is that of projects without a policy of their own. */
export const facts = async (gateway: Gateway, config: Config, cwd: string) => ({
  mode: (await gateway.service('rules').get()?.of(DEFAULT_PROJECT))?.mode ?? config.default_mode,
  storage: storageOf(config, cwd),
})

const storageOf = ({ storage: { backend, file }, preset }: Config, cwd: string): string => {
  if (preset === 'minimal') return 'memory'
  return backend === 'sqlite' ? relativePath(file, cwd) : backend
}

/** Path relative to the folder; unchanged if it is outside. */
const relativePath = (file: string, cwd: string): string => {
  const short = relative(cwd, file)
  return short === '' ? basename(file) : short.startsWith('..') ? file : short
}
