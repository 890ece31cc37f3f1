/** What a model does in a turn, or what happens to its reply. */
export type Step =
  | { readonly act: 'shell'; readonly command: string }
  | { readonly act: 'read'; readonly file: string }
  | { readonly act: 'edit'; readonly file: string; readonly from: string; readonly to: string }
  | { readonly act: 'background'; readonly command: string }
  | { readonly act: 'poll' }
  /** Another agent of the same program gets a task; the next steps are its own, up to its words. */
  | { readonly act: 'delegate'; readonly task: string }
  | { readonly act: 'words' }
  /** The provider answers with this status. */
  | { readonly act: 'fail'; readonly status: number }
  /** The reply with the next call breaks off in its middle. */
  | { readonly act: 'cut' }

/** A task as a model works on it; behind its steps the model gives its last answer. */
export interface Script {
  readonly id: string
  readonly steps: readonly Step[]
  /** Begins again behind the last step: what must be stopped, before so many turns have reached the provider. */
  readonly loops?: number
  /** What stands in the project at the end: a path, or a path and a text in it. */
  readonly leaves?: readonly (readonly [path: string, text?: string])[]
}

const words = 'alpha bravo charlie delta echo foxtrot golf hotel india juliett'.split(' ')
const NOTES = 'notes.txt'

/** The files of a project, by path. */
export const project: Readonly<Record<string, string>> = {
  'package.json': '{"name":"agents-test"}\n',
  [NOTES]: `${words.join('\n')}\n`,
  'check.sh': `test -s ${NOTES} && echo "Checked 12 files. No fixes applied."\n`,
}

const times = (count: number, step: (index: number) => Step | readonly Step[]): readonly Step[] =>
  Array.from({ length: count }, (_, index) => step(index)).flat()

const read: Step = { act: 'read', file: NOTES }
const check: Step = { act: 'shell', command: 'sh check.sh' }
const changed = (count: number) => words.slice(0, count).map((word) => [NOTES, `${word}, changed`] as const)
const unavailable: Step = { act: 'fail', status: 503 }
const edit = (index: number): Step => {
  const word = words[index] ?? ''
  return { act: 'edit', file: NOTES, from: word, to: `${word}, changed` }
}

export const scripts: readonly Script[] = [
  { id: 'loop', steps: [{ act: 'shell', command: 'echo the same again' }], loops: 6 },
  { id: 'loop-silent', steps: [{ act: 'shell', command: 'true' }], loops: 10 },
  { id: 'loop-failing', steps: [{ act: 'shell', command: 'ls /not-there' }], loops: 6 },
  { id: 'loop-reading', steps: [read], loops: 6 },
  { id: 'loop-of-two', steps: [read, check], loops: 8 },
  {
    id: 'work',
    steps: [read, { act: 'shell', command: 'ls' }, edit(0), check, edit(1), read, check],
    leaves: changed(2),
  },
  { id: 'edits', steps: [read, ...times(10, edit)], leaves: changed(10) },
  {
    id: 'silent',
    steps: times(10, (index) => ({ act: 'shell', command: `mkdir made-${words[index]}` })),
    leaves: words.map((word) => [`made-${word}`]),
  },
  { id: 'check', steps: [read, ...times(6, (index) => [edit(index), check])], leaves: changed(6) },
  { id: 'poll', steps: [{ act: 'background', command: 'sleep 60' }, ...times(7, () => ({ act: 'poll' }))] },
  { id: 'failing', steps: [unavailable, unavailable, read, unavailable, unavailable, check] },
  { id: 'cut', steps: [{ act: 'cut' }, read, { act: 'cut' }, check] },
]
