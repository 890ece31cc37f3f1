import type { Step } from '../quality/trajectory.ts'
import { type Author, turn, word } from './author.ts'

/** The steps of a loop by index. Step `repeats` is the first repetition. */
export interface Loop {
  readonly step: (index: number) => Step
  readonly repeats: number
  /** Number of steps. Default: the usual number. */
  readonly steps?: number
  /** Other work of the agent. Default: tool calls. */
  readonly work?: () => Step
  /** No other work interrupts the loop. */
  readonly unbroken?: boolean
}

const unit = (author: Author, period: number): Step[] => Array.from({ length: period }, () => author.work())

const cycle = (steps: readonly Step[], index: number): Step => steps[index % steps.length] ?? { calls: [], results: [] }

/** Loops of agents that send their whole history with every request. */
export const plainLoops: Readonly<Record<string, (author: Author, period: number) => Loop>> = {
  same_call(author) {
    const [step] = unit(author, 1)
    return { step: () => step ?? author.work(), repeats: 1 }
  },
  ping_pong(author, period) {
    const steps = unit(author, period)
    return { step: (index) => cycle(steps, index), repeats: period }
  },
  /** A new command each time, with the same error except for its numbers. */
  same_error(author) {
    const [cause = ''] = author.lines(1)
    const step = (index: number) =>
      turn('run_command', { command: `make ${word(index + 1)}` }, `${cause} at ${1000 + index * 37}\nexit code 2`, true)
    return { step, repeats: 1 }
  },
  /** Calls with known results. Every third call repeats an earlier one. */
  stall(author) {
    const known = author.lines(8)
    const step = (index: number) =>
      turn(
        'grep',
        { pattern: word(700 + (index % 3 === 2 ? index - 2 : index)) },
        index === 0 ? known.join('\n') : known.filter((_, line) => (line + index) % 3 > 0).join('\n'),
      )
    return { step, repeats: 1 }
  },
  /** The same edit each time, on a file that grows with each edit. */
  same_edit(author) {
    const [added = ''] = author.lines(1)
    const step = (index: number) =>
      turn(
        'insert_lines',
        { path: 'src/main.ts', text: added },
        `${`${added}\n`.repeat(index + 1)}saved ${word(index + 1)}`,
      )
    return { step, repeats: 1 }
  },
}

/** Work that resembles a loop but is none. */
export const lookAlikes: Readonly<Record<string, (author: Author) => (index: number) => Step>> = {
  work: (author) => () => author.work(),
  paging: (author) => () => turn('scroll_down', {}, author.lines().join('\n')),
  tests_after_edits: (author) => (index) =>
    index % 2 === 0
      ? turn('edit_file', { path: 'src/main.ts', text: author.lines(1)[0] }, `saved ${word(index + 1)}`)
      : turn('run_tests', {}, author.lines(3).join('\n')),
  /** A slow job that reports its progress. */
  polling: (author) => (index) =>
    index % 12 === 11 ? author.work() : turn('job_status', { job: 'build' }, `running: ${author.lines(1)[0]}`),
  other_errors: (author) => () =>
    turn('run_command', { command: `make ${author.lines(1)[0]}` }, `${author.lines(2).join('\n')}\nexit code 2`, true),
  /** The user repeats a request and gets the same response. */
  asked_again: (author) => {
    const answer = author.lines().join('\n')
    return () => ({ ...turn('get_balance', { account: 'main' }, answer), user: 'And what is it now?' })
  },
}
