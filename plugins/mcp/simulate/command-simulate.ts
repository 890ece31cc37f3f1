import { GuardError } from 'guard-gateway/core'
import { columnLines, paintedWord, painter, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import { type CommandContext, postText, printAnswer } from '../management/command-context.ts'
import { visibleLine } from '../management/visible-line.ts'
import { fileContent, textOption } from '../policy/command-files.ts'
import type { SimulationView } from './routes.ts'

/** Prints what a policy file would have said of the calls on record; 1 if something would differ, else 0. */
export const simulateFile = async (context: CommandContext): Promise<number> => {
  const { input, io } = context
  const [file] = input.args
  if (file === undefined) throw new GuardError('USAGE', 'Name the policy file.')
  const yaml = (await fileContent(file, io)).toString('utf8')
  const filters = { server_id: textOption(input.options, 'serverId'), since: textOption(input.options, 'since') }
  const answer = await postText(context, '/policies/simulate', { yaml, ...filters })
  const view = JSON.parse(answer) as SimulationView
  printAnswer<SimulationView>(answer, context, () => simulationLines(view, context))
  const strict = input.options.strict === true && view.depends > 0
  return view.differ > 0 || view.failed_tests > 0 || strict ? 1 : 0
}

const simulationLines = (view: SimulationView, context: CommandContext): readonly string[] => {
  const { calls, same, differ, stricter, looser, depends, unjudged, policy_version, mode } = view
  const version = policy_version.slice(0, 12)
  return [
    `${calls} ${calls === 1 ? 'call' : 'calls'} on record, by policy ${version}${mode === 'shadow' ? ', which is in shadow and is told as if it enforced' : ''}`,
    `  ${same} the same, ${differ} would differ (${stricter} stricter, ${looser} looser), ${depends} depend on arguments that are not on record`,
    ...(unjudged > 0
      ? [`  ${unjudged} more were refused before any policy: their arguments did not fit, or their caller was paused`]
      : []),
    ...(view.truncated ? ['  only the newest calls were looked at; narrow them with --since or --server-id'] : []),
    ...(view.failed_tests > 0
      ? [`  ${view.failed_tests} of the policy's own tests fail: validate-policy says which`]
      : []),
    ...groupLines('would differ', view.changes, context),
    ...groupLines('depends on arguments', view.unknown, context),
  ]
}

const groupLines = (
  title: string,
  groups: SimulationView['changes'],
  { io, input }: CommandContext,
): readonly string[] => {
  if (groups.length === 0) return []
  const colour = painter(input, io)
  const rows = groups.map(({ was, would_be, calls, forwarded, tool, server_id, rule_ids, examples: [first] }) => [
    was,
    would_be.join(' or '),
    String(calls),
    String(forwarded),
    `${visibleLine(tool)} on ${visibleLine(server_id)}`,
    rule_ids.map(terminalLine).join(', '),
    first?.trace_id == null ? '' : `/replay/${first.trace_id}${first.span_id === null ? '' : `?span=${first.span_id}`}`,
  ])
  const head = ['was', 'would be', 'calls', 'let through', 'tool', 'rules', 'example']
  return [
    `${title}:`,
    ...columnLines([head, ...rows], new Set([2, 3]), {
      width: terminalWidth(io.out),
      spare: [6],
      free: new Map([
        [4, 20],
        [5, 12],
      ]),
      paint: (cell, column) => (column < 2 ? paintedWord(cell, colour) : cell),
    }),
  ]
}
