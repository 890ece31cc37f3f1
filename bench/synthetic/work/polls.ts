import type { Step } from '../../quality/trajectory.ts'
import { type Author, turn, word } from '../author.ts'
import { codexFrame, shells } from '../shells.ts'
import { rounds, variants, type WorkKinds } from './work.ts'

/** Polls before a job is done. */
const ASKED = 8

/** How a client starts a slow job, polls it and receives its result. */
export interface Poll {
  readonly start: (job: string) => Step
  /** The same call each time. The result differs only in parts that change by themselves. */
  readonly ask: (job: string, time: number) => Step
  readonly done: (job: string, output: string) => Step
}

const runView = (job: string) => `gh run view ${job} --json status,conclusion`
const IN_PROGRESS = '{"conclusion":"","status":"in_progress"}'
const task = (job: string, state: string, output: string): string =>
  `<retrieval_status>${state === 'running' ? 'not_ready' : 'success'}</retrieval_status>\n\n<task_id>${job}</task_id>\n\n<task_type>local_bash</task_type>\n\n<status>${state}</status>${output}`

/** Polls of clients by name. */
export const polls: Readonly<Record<string, Poll>> = {
  write_stdin: {
    start: () =>
      turn('exec_command', { cmd: 'npm run build' }, codexFrame(3, 'Process running with session ID 42', '')),
    ask: (_, time) => stdin(codexFrame(30 + time, 'Process running with session ID 42', '')),
    done: (_, output) => stdin(codexFrame(9, 'Process exited with code 0', output)),
  },
  bash_output: {
    start: (job) => shells.claude_code(`npm run ${job}`, `Command running in background with ID: ${job}`),
    ask: (job, time) =>
      turn(
        'BashOutput',
        { bash_id: job },
        `<status>running</status>\n\n<timestamp>2026-03-01T10:${10 + time}:07.123Z</timestamp>`,
      ),
    done: (job, output) =>
      turn('BashOutput', { bash_id: job }, `<status>completed</status>\n\n<stdout>\n${output}\n</stdout>`),
  },
  task_output: {
    start: (job) => shells.claude_code(`npm run ${job}`, `Command running in background with ID: ${job}`),
    ask: (job) => turn('TaskOutput', { task_id: job, block: false }, task(job, 'running', '')),
    done: (job, output) =>
      turn('TaskOutput', { task_id: job, block: false }, task(job, 'completed', `\n\n<output>\n${output}\n</output>`)),
  },
  gh_run: {
    start: (job) => shells.claude_code(`gh workflow run ${job}.yml`, `Created workflow_dispatch event for ${job}.yml`),
    ask: (job, time) =>
      shells.claude_code(
        `gh run view ${job}`,
        `* main ${job} · 123\nTriggered via push about ${time + 1} minutes ago\n\nJOBS\n* build (ID 456)`,
      ),
    done: (job, output) => shells.claude_code(`gh run view ${job}`, `✓ main ${job} · 123\n${output}`),
  },
  growing_sleeps: {
    start: (job) => shells.opencode(`gh workflow run ${job}.yml`, `Created workflow_dispatch event for ${job}.yml`),
    ask: (job, time) => shells.opencode(`sleep ${10 * 2 ** time} && ${runView(job)}`, IN_PROGRESS),
    done: (job, output) => shells.opencode(runView(job), `{"conclusion":"success","status":"completed"}\n${output}`),
  },
  mcp_job: {
    start: (job) => turn('mcp__ci__start_job', { job }, `{"id":"${job}","state":"queued"}`),
    ask: (job) => turn('mcp__ci__get_job', { id: job }, `{"id":"${job}","state":"running","log":[]}`),
    done: (job, output) => turn('mcp__ci__get_job', { id: job }, `{"id":"${job}","state":"done","log":"${output}"}`),
  },
}

const stdin = (text: string): Step => turn('write_stdin', { session_id: 42, chars: '', yield_time_ms: 30_000 }, text)

const waiting = (poll: Poll) => (author: Author) =>
  rounds([
    (round) => poll.start(word(round + 1)),
    ...Array.from({ length: ASKED }, (_, time) => (round: number) => poll.ask(word(round + 1), time)),
    (round) => poll.done(word(round + 1), author.lines(2).join(' ')),
    () => author.work(),
  ])

/** Waits for slow jobs that end. */
export const waits: WorkKinds = variants('poll', polls, waiting)
