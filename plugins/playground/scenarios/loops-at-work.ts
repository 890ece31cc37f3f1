import { allowed, caught } from '../expectations.ts'
import { type Expect, type RequestStep, scenario } from '../scenario.ts'
import { agentWork, type Turn } from './agent-work.ts'

const TASK = 'Find out where the tax is added.'

const look = (text: string): Turn => ({
  what: `searches for "${text}"`,
  call: 'search',
  arguments: { text },
  returns: `src/${text}.ts:3`,
})

const searches = ['tax', 'net', 'sum', 'tax', 'sum', 'net']

export const staleLoop = scenario({
  id: 'stale-loop',
  title: 'Old calls in a new order',
  summary:
    'Three turns that only repeat earlier calls and get earlier results, in whatever order: the next request is stopped.',
  kind: 'model',
  rules: [
    { id: 'stale_turns', rule_type: 'stale_turns', threshold: 3, window_size: 6, action: 'block', enabled: true },
  ],
  steps: agentWork(
    TASK,
    searches.map(look),
    { what: 'brings the third old result', says: 'I will look again.' },
    (index) => (index === 7 ? caught('LOOP_STALE') : allowed),
  ),
})

const FILE = Array.from({ length: 24 }, (_, line) => `export const rate${String.fromCharCode(97 + line)} = 0.19`)

const read = (offset: number, limit: number): Turn => ({
  what: `reads ${limit} lines from ${offset}`,
  call: 'read_file',
  arguments: { path: 'src/tax.ts', offset, limit },
  returns: FILE.slice(offset, offset + limit).join('\n'),
})

export const rereadLoop = scenario({
  id: 'reread-loop',
  title: 'One file in ever other pieces',
  summary: 'A file is read whole, and then in six other ranges that show nothing new: the next request is stopped.',
  kind: 'model',
  rules: [{ id: 'reread', rule_type: 'reread', threshold: 6, window_size: 12, action: 'block', enabled: true }],
  steps: agentWork(
    TASK,
    [read(0, 24), ...[1, 2, 3, 4, 5, 6].map((offset) => read(offset, 10 + offset))],
    { what: 'brings the sixth piece', says: 'I will read another part.' },
    (index) => (index === 8 ? caught('LOOP_REREAD') : allowed),
  ),
})

const beginning: readonly Turn[] = ['README.md', 'src/tax.ts', 'test/tax.ts'].map((path) => ({
  what: `reads ${path}`,
  call: 'read_file',
  arguments: { path },
  returns: `the text of ${path}`,
}))

/** A conversation that starts with a summary of the last one, as far as its third result. */
const begun = (index: number, last: Expect): readonly RequestStep[] =>
  agentWork(
    `Summary ${index}: the files are to be read before anything is changed.`,
    beginning,
    { what: `conversation ${index} brings its third result`, says: 'The history is too long. I will sum it up.' },
    (step) => (step === 4 ? last : allowed),
  )

export const respawnLoop = scenario({
  id: 'respawn-loop',
  title: 'A history that is summed up for ever',
  summary: 'One conversation after another begins with the same three calls: the fourth is stopped.',
  kind: 'model',
  rules: [
    {
      id: 'thread_respawn',
      rule_type: 'thread_respawn',
      threshold: 4,
      window_size: 64,
      action: 'block',
      enabled: true,
    },
  ],
  steps: [1, 2, 3, 4].flatMap((index) => begun(index, index === 4 ? caught('LOOP_RESPAWN') : allowed)),
})
