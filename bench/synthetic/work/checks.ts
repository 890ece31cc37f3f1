import type { Step } from '../../quality/trajectory.ts'
import { turn, word } from '../author.ts'
import { type Editor, editors, nthEdit } from '../editors.ts'
import { type Shell, shells } from '../shells.ts'
import { rounds, variants, type WorkKinds } from './work.ts'

interface Check {
  readonly shell: Shell
  readonly edit: Editor
  readonly command: string
  /** Its output after a success. */
  readonly good: (time: number) => string
}

/** A change without an edit tool. */
const sed: Editor = (before, after) => shells.mini_swe(`sed -i 's/${before}/${after}/' src/main.ts`, '')

/** The client's tools for change and check. The check prints the same after each good change. */
const checks: Readonly<Record<string, Check>> = {
  lint: {
    shell: shells.claude_code,
    edit: editors.Edit,
    command: 'npx biome check .',
    good: (time) => `Checked 120 files in ${40 + time}ms. No fixes applied.`,
  },
  typecheck: { shell: shells.codex, edit: editors.apply_patch, command: 'npx tsc --noEmit', good: () => '' },
  tests: {
    shell: shells.opencode,
    edit: editors.opencode_edit,
    command: 'npm test',
    good: (time) => `42 passed, 0 failed in 1.${time % 10}s`,
  },
  status: {
    shell: shells.pi,
    edit: editors.pi_edit,
    command: 'git status --short',
    good: () => ' M src/main.ts',
  },
  lint_by_shell: { shell: shells.mini_swe, edit: sed, command: 'ruff check .', good: () => 'All checks passed!' },
  build_mcp: {
    shell: (command, output) => turn('mcp__ci__run', { command }, output),
    edit: editors.mcp_edit_file,
    command: 'build',
    good: () => 'Build succeeded.',
  },
}

const afterEdits =
  ({ shell, edit, command, good }: Check): WorkKinds[string] =>
  (author) =>
    rounds([(round) => nthEdit(edit, round, author.lines(1)[0] ?? ''), (round) => shell(command, good(round))])

/** Fails in a new way each time, is fixed, and passes. Later the same command runs again. */
const afterFixes =
  ({ shell, edit, command, good }: Check): WorkKinds[string] =>
  (author) =>
    rounds([
      (round) => failed(shell(command, `FAIL ${author.lines(2).join('\n')}\n41 passed, 1 failed in 1.${round % 10}s`)),
      () => author.work(),
      (round) => nthEdit(edit, round, author.lines(1)[0] ?? ''),
      (round) => shell(command, good(round)),
      () => author.work(),
    ])

const failed = (step: Step): Step => ({ ...step, results: step.results.map((result) => ({ ...result, error: true })) })

/** The check in the same turn as the change. */
const withEdits =
  ({ shell, edit, command, good }: Check): WorkKinds[string] =>
  (author) =>
  (index) => {
    const [change, check] = [nthEdit(edit, index, author.lines(1)[0] ?? ''), shell(command, good(index))]
    return { calls: [...change.calls, ...check.calls], results: [...change.results, ...check.results] }
  }

/** The same check with the same good result. Something changes before each one. */
export const checked: WorkKinds = {
  ...variants('after_edits', checks, afterEdits),
  ...variants('after_fixes', checks, afterFixes),
  ...variants('with_edits', { lint: checks.lint as Check }, withEdits),
  /** One change in several places, then the check. */
  after_batches: (author) =>
    rounds([
      ...Array.from({ length: 4 }, (_, place) => (round: number) => {
        const edit = nthEdit(editors.Edit, round * 4 + place, author.lines(1)[0] ?? '')
        return { ...edit, text: `Now ${word(place + 1)}.` }
      }),
      () => shells.claude_code('npm run typecheck', '> typecheck\n> tsc --noEmit'),
    ]),
}
