import type { Command } from 'guard-gateway/lib/command'
import { writeJson } from 'guard-gateway/lib/json'
import { hint, terminalWidth } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import { type CommandContext, type PolicyCommandOptions, policyPath } from '../commands/command-context.ts'
import { requestedPolicy } from '../commands/requested-policy.ts'
import { suggestProjects } from '../commands/suggest.ts'
import type { Simulation } from './simulation.ts'
import { simulationLines } from './text.ts'

/** `policy simulate`, also reached as `policies simulate`. */
export const simulateCommands = (options: PolicyCommandOptions): readonly Command[] =>
  ['policy simulate', 'policies simulate'].map((id) => ({
    id,
    args: '<preset_or_file>',
    summary:
      id === 'policy simulate'
        ? 'say what other rules would have done to stored sessions'
        : 'the same as policy simulate',
    options: {
      '--project <id>': 'of this project; "default" if not said',
      '--mode <mode>': 'shadow or enforce',
      '--since <time>': 'sessions since: an age such as 24h, today, yesterday, or a time',
      '--until <time>': 'and until then',
      '--limit <number>': 'so many sessions at most, newest first; 200 if not said',
    },
    choices: { '--mode': ['shadow', 'enforce'] },
    example: [`guard ${id} enforce-recommended`, `guard ${id} rules.yml --project shop --since 7d`],
    suggestions: { '--project': () => options.asking(suggestProjects) },
    paged: true,
    run: (input, io) => options.asking((ask) => simulatePolicy({ ask, input, io }, options)),
  }))

/** Prints what the rules of a preset or a file would have done. Throws INVALID_POLICY and INVALID_YAML. */
const simulatePolicy = async (context: CommandContext, { presets }: PolicyCommandOptions): Promise<number> => {
  const { ask, input, io } = context
  const { project = 'default', mode, since, until, limit, json } = input.options
  const { body: requested } = await requestedPolicy(input.args[0] ?? '', await presets(), io.cwd)
  const range = { mode, since, until, limit: limit === undefined ? undefined : Number(limit) }
  const body = { ...requested, ...Object.fromEntries(Object.entries(range).filter(([, value]) => value !== undefined)) }
  const simulation = (await ask('POST', `${policyPath(project)}/simulate`, body)) as Simulation
  if (json === true) io.out.write(`${writeJson(simulation)}\n`)
  else for (const line of simulationLines(simulation, terminalWidth(io.out))) io.out.write(`${line}\n`)
  for (const { message } of simulation.not_simulated) hint(terminalLine(message), input, io)
  if (simulation.truncated) hint('There is more: raise --limit, or say --since and --until.', input, io)
  return 0
}
