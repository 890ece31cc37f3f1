import { dialectOf, type Step } from '../../kit/dialogue.ts'

/** One request of a client. */
export interface Ask {
  readonly path: string
  readonly body: object
  /** The provider's answer, where it is not a usual one. */
  readonly answer?: object
}

const TASK: Step = { user: 'The build fails. Find out why and repair it.' }

export const times = <T>(count: number, of: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => of(n))

/** A word of its own for each number, since numbers are masked in some places. */
export const word = (n: number): string => `w${String.fromCharCode(97 + (n % 26))}${n > 25 ? word(n - 26) : ''}`

const { path: CHAT, body: chatBody } = dialectOf('chat_completions')

/** A request each time that something has been answered, with all that came before. */
const growing = (steps: readonly Step[]): Ask[] =>
  [TASK, ...steps].flatMap((step, index, all) =>
    'assistant' in step ? [] : [{ path: CHAT, body: chatBody(all.slice(0, index + 1)) }],
  )

const tool = (name: string, args: object, result: string): Step => ({ tool: name, args, result })

const pair = (first: Step, second: Step) => growing(times(12, (n) => (n % 2 === 0 ? first : second)))

const edit = (from: string, to: string) =>
  tool('Edit', { file_path: 'a.ts', old_string: from, new_string: to }, 'The file a.ts has been updated.')

/** Loops of agents whose clients send their whole history and call tools. */
export const toolLoops: Readonly<Record<string, readonly Ask[]>> = {
  'the same call, the same result': growing(times(6, () => tool('read_file', { path: 'a' }, 'a'))),
  'ping-pong between two calls': pair(tool('ls', {}, 'a.ts'), tool('pwd', {}, '/app')),
  'an edit and the edit back': growing(times(12, (n) => (n % 2 === 0 ? edit('a', 'b') : edit('b', 'a')))),
  '… with a failing test between': growing(
    times(24, (n) =>
      n % 2 === 1 ? tool('Bash', { command: 'npm test' }, '1 failed') : n % 4 === 0 ? edit('a', 'b') : edit('b', 'a'),
    ),
  ),
  'a failing test after trivial edits': growing(
    times(24, (n) =>
      n % 2 === 0
        ? edit(word(n), word(n + 1))
        : tool('Bash', { command: 'npm test' }, `Exit code 1\n1 failed in ${n}.3 s`),
    ),
  ),
  'a poll with growing sleeps, for ever': growing(
    times(24, (n) => tool('Bash', { command: `sleep ${n + 1}; gh run view 7` }, 'status: queued')),
  ),
  'a poll of which only the elapsed time changes': growing(
    times(24, (n) => tool('job_status', { id: 7 }, `running for ${n + 1} s`)),
  ),
  'a schema error, flagged': growing(
    times(8, (n) => tool('write', { path: word(n) }, '{"isError":true,"error":"content is required"}')),
  ),
  'a schema error in words': growing(
    times(8, (n) => tool('write', { path: word(n) }, 'Invalid arguments for tool write: content: Required')),
  ),
  'a key that is refused, whatever is asked': growing(
    times(8, (n) => tool('query', { table: word(n) }, `{"message":"Invalid API key","request":"${word(n)}"}`)),
  ),
  'a search that finds nothing, again': growing(
    times(16, (n) => tool('grep', { pattern: word(n % 3) }, 'No matches found')),
  ),
  'a search that finds nothing, in ever new words': growing(
    times(16, (n) => tool('grep', { pattern: word(n) }, 'No matches found')),
  ),
  'three tools that answer []': growing(times(18, (n) => tool(['list', 'find', 'search'][n % 3] ?? '', {}, '[]'))),
  'the to-do list written again': growing(
    times(8, () =>
      tool('TodoWrite', { todos: [{ content: 'Build', status: 'pending' }] }, 'Todos have been modified.'),
    ),
  ),
  'the same plan with other explanations': growing(
    times(8, (n) =>
      tool(
        'update_plan',
        { explanation: `because ${word(n)}`, plan: [{ step: 'Build', status: 'in_progress' }] },
        'Plan updated',
      ),
    ),
  ),
  'the same command with other descriptions': growing(
    times(8, (n) => tool('Bash', { command: 'npm test', description: `Run ${word(n)}` }, '1 failed')),
  ),
  'one file in other ranges': growing([
    tool('Read', { file_path: 'a.ts' }, times(60, (n) => `line of ${word(n)}`).join('\n')),
    ...times(10, (n) =>
      tool(
        'Read',
        { file_path: 'a.ts', offset: n, limit: 12 + n },
        times(12 + n, (line) => `line of ${word(n + line)}`).join('\n'),
      ),
    ),
  ]),
  'a window that slides over the history': times(8, () => ({
    path: CHAT,
    body: chatBody([TASK, ...times(2, () => tool('read_file', { path: 'a' }, 'a'))]),
  })),
}

const OUTPUT = '<returncode>1</returncode>\n<output>\nmake: no rule\n</output>'

const spoken = (say: (n: number) => string, hear = OUTPUT) =>
  growing(times(6, (n): readonly Step[] => [{ assistant: say(n) }, { user: hear }]).flat())

/** Loops of agents that call no tools. */
export const textLoops: Readonly<Record<string, readonly Ask[]>> = {
  'mini-swe-agent': spoken((n) => `THOUGHT: ${word(n)}\n\n\`\`\`bash\nmake all\n\`\`\``),
  'Terminus in JSON': spoken(
    (n) => JSON.stringify({ analysis: word(n), plan: word(n), commands: [{ keystrokes: 'make all\n', duration: 1 }] }),
    'New Terminal Output:\nmake: no rule',
  ),
  'Terminus in XML': spoken(
    (n) =>
      `<response><analysis>${word(n)}</analysis><plan>${word(n)}</plan><commands><keystrokes duration="1">make all</keystrokes></commands></response>`,
    'New Terminal Output:\nmake: no rule',
  ),
  'XML tools': spoken(
    (n) => `${word(n)}\n<read_file><path>a.ts</path></read_file>`,
    '[read_file for "a.ts"] Result:\nconst a = 1',
  ),
  'a thought, said again': spoken(() => 'I should look at the build first.', 'What will you do?'),
  '"Continue." for ever': spoken(() => 'I will now repair the build.', 'Continue.'),
}
