import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const lines = (name: string): string[] =>
  readFileSync(join(import.meta.dirname, name), 'utf8')
    .split('\n')
    .slice(0, -1)

/** Commands that pass under the options of the test, a line each, and those of several lines. */
export const ordinary: readonly string[] = [
  ...lines('ordinary.txt'),
  'ls \\\n  -l',
  'npm test \\\n  -- \\\n  --watch',
  'ls\nls -l\n',
  '\n\nls\n',
  'ls # one\nls # two',
  'echo "a\nb"',
  "echo 'a\nb'",
  'ls\t-l',
]

/** Commands that run something else, or of which it cannot be said what they run. */
export const attacks: readonly string[] = [
  ...lines('attacks.txt'),
  '',
  ' ',
  '\n',
  '# only a comment',
  'cat <<EOF\n$(rm x)\nEOF',
  "cat <<'EOF'\nx\nEOF\nrm x",
  'ls\nrm x',
  'ls\n\nrm x',
  'ls # comment\nrm x',
  'ls \\\n; rm x',
  'ls \\\\\nrm x',
  'echo "a\n" ; rm x',
  "echo 'a\n'; rm x",
  'ls\\\nx',
  'l\\\ns; r\\\nm x',
  'ls\0rm',
  'ls\rrm x',
  'ls\r\nrm x',
  'ls \u001b[2J',
  'ls\u0085rm x',
  'ls\u00a0-l',
  'ls\u2028rm x',
  'ls\u200b',
  'l\u00ads',
  '\ufeffls',
  'ls \u007f',
  'ls\u000brm x',
  'ls\frm x',
  '('.repeat(5000),
  `${'( '.repeat(30_000)}ls`,
  `ls ${'a '.repeat(40_000)}`,
  '$('.repeat(5000),
  '"$('.repeat(2000),
  `${'if true; then '.repeat(2000)}ls`,
]
