import type { Command } from '#lib/command'
import { DEFAULT_PROJECT } from '#lib/session'
import {
  type CommandContext,
  type PolicyCommandOptions,
  policyPath,
  suggestProjects,
} from '../commands/command-context.ts'
import { requestedPolicy } from '../commands/requested-policy.ts'
import { printSimulation } from './print.ts'
import type { Simulation } from './simulation.ts'

/** `policy simulate`, also reached as `policies simulate`. */
export const simulateCommands = (options: PolicyCommandOptions): readonly Command[] =>
  ['policy simulate', 'policies simulate'].map((id) => ({
    id,
    args: '<preset_or_file>',
    summary:
      id === 'policy simulate'
        ? 'say what other rules would have done to stored sessions, or to those of files'
        : 'the same as policy simulate',
    options: {
      '--project <id>': 'of this project; of every project that has no policy of its own if not said',
      '--mode <mode>': 'shadow or enforce',
      '--since <time>': 'sessions since: an age such as 24h, today, yesterday, or a time',
      '--until <time>': 'and until then',
      '--limit <number>': 'so many sessions at most, newest first; 200 if not said',
      '--import <path...>': 'try them on session files of agents, exports and traces, in place of stored sessions',
    },
    choices: { '--mode': ['shadow', 'enforce'] },
    example: [
      `guard ${id} enforce-recommended`,
      `guard ${id} rules.yml --project shop --since 7d`,
      `guard ${id} enforce-recommended --mode enforce --import ~/.claude/projects`,
    ],
    suggestions: { '--project': () => options.asking(suggestProjects) },
    paged: true,
    run: async (input, io) => {
      if (input.options.import === undefined)
        return options.asking((ask) => simulatePolicy({ ask, input, io }, options))
      const { simulateFiles } = await import('./imported/command.ts')
      return simulateFiles(input, io, options)
    },
  }))

/** Prints what the rules of a preset or a file would have done. Throws INVALID_POLICY and INVALID_YAML. */
const simulatePolicy = async (context: CommandContext, { presets }: PolicyCommandOptions): Promise<number> => {
  const { ask, input, io } = context
  const { project = DEFAULT_PROJECT, mode, since, until, limit } = input.options
  const { body: requested } = await requestedPolicy(input.args[0] ?? '', await presets(), io.cwd)
  const range = { mode, since, until, limit: limit === undefined ? undefined : Number(limit) }
  const body = { ...requested, ...Object.fromEntries(Object.entries(range).filter(([, value]) => value !== undefined)) }
  const simulation = (await ask('POST', `${policyPath(project)}/simulate`, body)) as Simulation
  printSimulation(simulation, input, io)
  return 0
}
