import type { Step } from '../quality/trajectory.ts'
import { type Author, turn, word } from './author.ts'
import { editors } from './editors.ts'
import type { Loop } from './loops.ts'
import { shells } from './shells.ts'
import { type Protocol, protocols, thought, words } from './words.ts'
import { type Poll, polls } from './work/polls.ts'

type LoopKind = (author: Author) => Loop

/** This number of equal polls still counts as waiting. */
const PATIENCE = 12
const POLLS = 40

const pollForever =
  (poll: Poll): LoopKind =>
  () => ({
    step: (index) => (index === 0 ? poll.start('build') : poll.ask('build', index)),
    repeats: PATIENCE,
    steps: POLLS,
    unbroken: true,
  })

const textLoop =
  (protocol: Protocol): LoopKind =>
  (author) => {
    const output = author.lines(3).join('\n')
    return {
      step: () => protocol(thought(author), 'make all', output),
      repeats: 1,
      work: () => protocol(thought(author), `cat src/${thought(author)}.ts`, author.lines().join('\n')),
    }
  }

const always =
  (step: Step): LoopKind =>
  () => ({ step: () => step, repeats: 1 })

/** Loops of current agents, in the words and frames of their clients. */
export const clientLoops: Readonly<Record<string, LoopKind>> = {
  /** A new argument each time, with the same error as text and no error flag. */
  schema_error_in_words: () => ({
    step: (index) =>
      turn(
        'mcp__github__create_or_update_file',
        { path: `src/${word(index + 1)}.ts`, message: `Add ${word(index + 1)}` },
        'MCP error -32602: Invalid arguments for tool create_or_update_file: content: Required',
      ),
    repeats: 1,
  }),
  /** A change and its reversal. */
  edit_back_and_forth: () => ({
    step: (index) => editors.Edit(index % 2 === 0 ? 'a = 1' : 'a = 2', index % 2 === 0 ? 'a = 2' : 'a = 1'),
    repeats: 2,
  }),
  /** The same command with a new description. */
  description_differs: (author) => {
    const text = author.lines(3).join('\n')
    return {
      step: () => turn('Bash', { command: 'npm test', description: thought(author) }, text),
      repeats: 1,
    }
  },
  /** The same plan with a new explanation, and only an acknowledgement as result. */
  explanation_differs: (author) => ({
    step: () =>
      turn(
        'update_plan',
        { explanation: thought(author), plan: [{ step: 'Fix the build', status: 'in_progress' }] },
        'Plan updated',
      ),
    repeats: 1,
  }),
  /** The same command again. It prints nothing. */
  same_silent_command: always(shells.claude_code('make clean', '')),
  poll_forever_write_stdin: pollForever(polls.write_stdin as Poll),
  poll_forever_mcp: pollForever(polls.mcp_job as Poll),
  text_again_fence: textLoop(protocols.fence),
  text_again_tag: textLoop(protocols.tag),
  text_again_json: textLoop(protocols.json),
  /** The agent announces an action and calls no tool. The harness tells it to continue. */
  continue_loop: (author) => {
    const plan = author.lines(2).join('\n')
    return {
      step: () => words(`I will now do this:\n${plan}`, 'Continue.'),
      repeats: 1,
      work: () => words(author.lines().join('\n'), 'Continue.'),
    }
  },
}
