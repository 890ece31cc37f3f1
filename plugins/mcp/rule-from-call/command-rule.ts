import { readJson } from '#lib/json'
import { hint } from '#lib/terminal'
import { approvalId } from '../management/command-approvals.ts'
import { type CommandContext, getText, postText, printAnswer } from '../management/command-context.ts'
import { visibleLine } from '../management/visible-line.ts'
import type { RuleView } from './routes.ts'

/** Prints the rule that lets calls like one pass, and what it would have changed on record; with `--write` it is written into the policy file. */
export const ruleCommand = async (context: CommandContext): Promise<number> => {
  const { input, io } = context
  const id = encodeURIComponent(await approvalId(context, input.args[0]))
  const width = input.options.wide === true ? 'wide' : 'narrow'
  const body = await getText(context, `/approvals/${id}/rule?width=${width}`)
  const { policy_version } = readJson(body) as RuleView
  const isWritten = input.options.write === true
  const answer = isWritten
    ? await postText(context, `/approvals/${id}/rule`, {
        width,
        ...(policy_version === null ? {} : { policy_version }),
      })
    : body
  printAnswer<RuleView>(answer, context, (view) => linesOf(view, isWritten))
  if (!isWritten && input.options.json !== true)
    hint(`${width === 'narrow' ? '--wide for more calls; ' : ''}--write puts it into the policy file`, input, io)
  return 0
}

const linesOf = ({ yaml, changes, stuck, preview, file, rule_id }: RuleView, isWritten: boolean): readonly string[] => [
  // a rule holds nothing hidden, and its lines are those of the YAML
  ...yaml.split('\n').map((line) => (line === '' ? '' : visibleIndented(line))),
  ...changes.map((change) => `# ${visibleLine(change)}`),
  ...stuck.map((why) => `# cannot be written: ${visibleLine(why)}`),
  ...(preview === null
    ? []
    : [
        `# on record: ${preview.calls} calls of this tool, ${preview.looser} would have been let through or judged looser, ${preview.stricter} stricter, ${preview.depends} depend on arguments that are not on record`,
      ]),
  ...(isWritten ? [`# wrote rule ${rule_id} into ${visibleLine(file ?? '')}`] : []),
]

const visibleIndented = (line: string): string => {
  const indent = /^ */.exec(line)?.[0] ?? ''
  return indent + visibleLine(line.slice(indent.length))
}
