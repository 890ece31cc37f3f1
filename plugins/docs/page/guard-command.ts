import type { LocatedOperation } from './description.ts'

/** An operation on the command line. */
export interface GuardCommand {
  /** `guard sessions show` */
  readonly command: string
  /** Names of the parameters and body members that are its words, in order. */
  readonly args: readonly string[]
  /** Parameter or body member to its flag. */
  readonly flags: Readonly<Record<string, { readonly flag: string; readonly isSwitch: boolean }>>
}

const paging = '--limit --cursor'

/** Operation to its command: words, names of its values in braces, and flags. A flag with `!` takes no value. */
const commands: Readonly<Record<string, string>> = {
  'GET /api/sessions': `sessions list --project --agent --paused! ${paging}`,
  'GET /api/sessions/{id}': 'sessions show {id}',
  'POST /api/sessions/{id}/pause': 'sessions pause {id} --reason',
  'POST /api/sessions/{id}/end': 'sessions end {id}',
  'POST /api/sessions/{id}/resume': 'sessions resume {id}',
  'GET /api/agents': `agents list --project --paused! ${paging}`,
  'POST /api/agents': 'agents add {id} --name --project',
  'POST /api/agents/{id}/pause': 'agents pause {id}',
  'POST /api/agents/{id}/resume': 'agents resume {id}',
  'POST /api/agents/{id}/keys': 'agents issue {id}',
  'DELETE /api/agents/{id}/keys/{key_id}': 'agents revoke {id} {key_id}',
  'GET /api/policies/{project_id}': 'policy show {project_id}',
  'DELETE /api/policies/{project_id}': 'policy remove {project_id}',
  'GET /api/v1/runs': `replay list --project --session --status --tag --pinned! --since ${paging}`,
  'GET /api/v1/runs/{trace_id}': 'replay show {trace_id}',
  'GET /api/v1/runs/{trace_id}/export': 'replay export {trace_id} --format',
  'POST /api/v1/runs/{trace_id}/pin': 'replay pin {trace_id}',
  'POST /api/v1/compare': 'replay compare {left} {right}',
  'POST /api/v1/runs/import': 'replay import {file} --on-conflict --project --dry-run!',
  'GET /api/v1/stats': 'replay stats --of --step --project --session --status --tag --since',
  'GET /api/v1/stream': 'replay tail',
  'GET /api/v1/playground/scenarios': 'playground list',
  'POST /api/demo/run': 'playground run {scenario} --mode',
  'GET /api/v1/mcp/export': 'mcp export --server-id --format',
}

/** All commands that pages show, as their ids and flags. */
export const commandExamples = Object.values(commands).map((text) => ({
  id: text.replace(/ [{-].*/, ''),
  flags: text.match(/--[\w-]+/g) ?? [],
}))

/** The command of an operation; undefined if there is none. `guard`: the command line of the program. */
export const guardCommandOf = ({ method, path }: LocatedOperation, guard: string): GuardCommand | undefined => {
  const text = commands[`${method} ${path}`]
  if (text === undefined) return undefined
  const words = text.split(' ')
  const flags = words.filter((word) => word.startsWith('--'))
  const args = words.filter((word) => word.startsWith('{'))
  return {
    command: [guard, ...words.filter((word) => /^\w/.test(word))].join(' '),
    args: args.map((word) => word.slice(1, -1)),
    flags: Object.fromEntries(
      flags.map((word) => {
        const flag = word.replace('!', '')
        return [memberNames[flag] ?? flag.slice(2).replaceAll('-', '_'), { flag, isSwitch: word.endsWith('!') }]
      }),
    ),
  }
}

/** Flags whose name is shorter than that of their parameter. */
const memberNames: Readonly<Record<string, string>> = {
  '--project': 'project_id',
  '--session': 'session_id',
  '--agent': 'agent_id',
}
