import { turn, word } from '../author.ts'
import { editors, nthEdit } from '../editors.ts'
import { type Shell, shells } from '../shells.ts'
import { rounds, variants, type WorkKinds } from './work.ts'

/** Different commands that change something and print nothing. */
const silent = (number: number): string => {
  const name = word(number + 1)
  return (
    [`mkdir -p build/${name}`, `mv old/${name} new/${name}`, `sed -i s/${name}/x/ a.ts`, `touch ${name}`][number % 4] ??
    ''
  )
}

/** A statement with another row or table each time. */
const statement = (number: number): string => {
  const name = word(number + 1)
  return [
    `INSERT INTO items (name) VALUES ('${name}')`,
    `ALTER TABLE items ADD COLUMN ${name} text`,
    `CREATE POLICY ${name} ON items FOR SELECT USING (true)`,
    `UPDATE items SET done = true WHERE name = '${name}'`,
  ][number % 4] as string
}

const NO_RESULTS = '{"meta":null,"content":[{"type":"text","text":"No results"}],"isError":false}'

/** Different changes in a row, with equal or empty acknowledgements. */
export const changes: WorkKinds = {
  ...variants('edits', editors, (editor) => (author) => (index) => nthEdit(editor, index, author.lines(1)[0] ?? '')),
  ...variants('silent', shells, (shell: Shell) => () => (index) => shell(silent(index), '')),
  sql_postgres_mcp: () => (index) => turn('execute_sql', { sql: statement(index) }, NO_RESULTS),
  sql_no_rows: () => (index) => turn('mcp__postgres__query', { sql: statement(index) }, '{\n  "rows": []\n}'),
  sql_psql: () => (index) => shells.claude_code(`psql -c "${statement(index * 4)}"`, 'INSERT 0 1'),
  sql_affected: () => (index) => turn('write_query', { query: statement(index) }, "[{'affected_rows': 1}]"),
  todo_list: (author) =>
    rounds([
      (round) => turn('TodoWrite', { todos: todos(round * 2) }, TODOS),
      (round) => nthEdit(editors.Edit, round, author.lines(1)[0] ?? ''),
      (round) => turn('TodoWrite', { todos: todos(round * 2 + 1) }, TODOS),
      () => author.work(),
    ]),
  plan: (author) =>
    rounds([
      (round) => turn('update_plan', { plan: todos(round) }, 'Plan updated'),
      (round) => shells.codex(silent(round), ''),
      (round) => nthEdit(editors.apply_patch, round, author.lines(1)[0] ?? ''),
    ]),
  task_list: (author) =>
    rounds([
      (round) => turn('TaskUpdate', { taskId: word(round + 1), status: 'in_progress' }, 'Updated task status'),
      (round) => nthEdit(editors.Edit, round, author.lines(1)[0] ?? ''),
      (round) => turn('TaskUpdate', { taskId: word(round + 1), status: 'completed' }, 'Updated task status'),
    ]),
}

const TODOS =
  'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable'

/** A list with `done` finished items. */
const todos = (done: number): object[] =>
  Array.from({ length: 14 }, (_, item) => ({
    content: `Do ${word(item + 1)}`,
    status: item < done ? 'completed' : item === done ? 'in_progress' : 'pending',
  }))
