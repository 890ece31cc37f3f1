import { alignments, type ComparedRow, type ComparedSpan, compare } from '../../read/compare.ts'
import { msOf, runSchema, runView, short } from '../run-view.ts'
import { choice, input, list, number, output, text, textOrNull } from '../schemas.ts'
import { fitting, type ReadTool } from '../tool.ts'

const MOST = 60
const MOST_ATTRIBUTES = 5

const isChanged = (row: ComparedRow): boolean =>
  row.presence !== 'both' || row.status_changed || row.label_changed || row.arguments_changed

const sideView = (side: ComparedSpan | null) =>
  side === null
    ? null
    : {
        span_id: side.span_id,
        label: short(side.label),
        status: side.status,
        ...(side.duration_ns === null ? {} : { took_ms: msOf(side.duration_ns) }),
        ...(side.error === null ? {} : { error: short(side.error, 200) }),
      }

const rowView = (row: ComparedRow) => ({
  step: short(row.key.replace(/^\+/, '')),
  in: row.presence,
  left: sideView(row.left),
  right: sideView(row.right),
  ...(row.arguments_changed ? { other_arguments: true } : {}),
  ...(row.attribute_changes.length === 0
    ? {}
    : {
        attributes: row.attribute_changes.slice(0, MOST_ATTRIBUTES).map(({ name, left, right }) => ({
          name: short(name),
          left: typeof left === 'string' ? short(left) : Number.isFinite(Number(left)) ? left : null,
          right: typeof right === 'string' ? short(right) : right,
        })),
      }),
})

export const compareRuns: ReadTool = {
  name: 'compare_runs',
  title: 'Compare two runs',
  description:
    'Sets two runs side by side: where they part in one sentence, differences of totals (right minus left), and the steps that differ. Take one that went well as left and one that did not as right.',
  input: input(
    {
      left: text('trace_id of one run.'),
      right: text('trace_id of the other.'),
      align: choice(alignments, 'How steps are paired; sequence if absent, in which an extra step shifts no other.'),
      all: { type: 'boolean', description: 'true: steps that are alike, too.' },
      after: number('Rows to skip: next_after of the answer before.'),
    },
    ['left', 'right'],
  ),
  output: output({
    left: runSchema as never,
    right: runSchema as never,
    they_part: textOrNull('Where; null if both took the same steps.'),
    deltas: { type: 'object', description: 'Right minus left.' },
    summary: { type: 'object', description: 'Steps by what is different.' },
    rows: list('Steps that differ, in order.'),
    next_after: { type: ['integer', 'null'], description: 'Give it as after; null at the end.' },
  }),
  async call(given, { cache }) {
    const left = await cache.trace(given.needText('left', 'the trace_id of a run, of list_runs'))
    const right = await cache.trace(given.needText('right', 'the trace_id of a run, of list_runs'))
    const compared = await compare(left, right, given.oneOf('align', alignments, 'sequence'))
    const rows = given.flag('all') ? compared.spans : compared.spans.filter(isChanged)
    const after = given.count('after', 0, rows.length)
    const { deltas } = compared
    return fitting(MOST, async (limit) => ({
      left: runView(left.run),
      right: runView(right.run),
      they_part: short(compared.first_difference?.text, 300),
      deltas: {
        duration_ms: msOf(deltas.duration_ns),
        input_tokens: Number(deltas.input_tokens),
        output_tokens: Number(deltas.output_tokens),
        cost_micro: Number(deltas.cost_micro),
        steps: deltas.span_count,
      },
      summary: compared.summary,
      rows: rows.slice(after, after + limit).map(rowView),
      next_after: after + limit < rows.length ? after + limit : null,
    }))
  },
}
