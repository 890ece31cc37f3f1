import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { argumentText } from '#lib/request-reader'
import { effectOfName } from '#lib/tools'
import type { ToolEffect } from '../../../../core/turns.ts'
import { effectOf } from '../../../../plugins/lib/tools/effect.ts'

/** Tools of clients and servers as they name them, and what they do. */
const tools: Readonly<Record<ToolEffect | 'unknown', readonly string[]>> = {
  edit: [
    ...[
      'Edit',
      'MultiEdit',
      'NotebookEdit',
      'Write',
      'TodoWrite',
      'TaskCreate',
      'TaskUpdate',
      'write_todos',
      'Checklist',
    ],
    ...['apply_patch', 'edit', 'write', 'replace', 'write_file', 'create', 'editor', 'str_replace_editor', 'edit_file'],
    ...['mcp__filesystem__edit_file', 'replace_symbol_body', 'SearchReplace', 'create_issue', 'API-patch-page'],
    ...['API-post-page', 'apply_migration', 'create_or_update_file', 'update_plan', 'merge_pull_request', 'push_files'],
  ],
  act: [
    ...['browser_click', 'browser.click', 'browser_type', 'book_flight', 'telegram_send', 'TaskStop', 'KillShell'],
    ...[
      'browser_press_key',
      'scroll_down',
      'mcp__debugger__step_over',
      'continue_execution',
      'computer',
      'browser_action',
    ],
  ],
  look: [
    ...['Read', 'Grep', 'Glob', 'LS', 'read_file', 'view', 'list_directory', 'WebFetch', 'search_code', 'TaskList'],
    ...[
      'get_file_contents',
      'API-get-block-children',
      'API-post-search',
      'browser_snapshot',
      'mcp__x__get_edit_history',
    ],
    ...['find_symbol', 'goto', 'open', 'get_action_details'],
  ],
  wait: [
    ...['TaskOutput', 'BashOutput', 'read_bash', 'CheckBackgroundJob', 'read_background_output', 'get_job_status'],
    ...['wait_for', 'Monitor', 'poll_task', 'list_background_processes'],
  ],
  unknown: [
    'Bash',
    'bash',
    'exec_command',
    'run_shell_command',
    'execute_sql',
    'run-raw-sql',
    'Skill',
    'Task',
    '💥',
    '',
    '7',
    'edi',
    '*',
  ],
}

describe('what a tool does, by its name', () => {
  for (const [effect, names] of Object.entries(tools))
    it(`is ${effect} for ${names.length} known names`, () => {
      for (const name of names) assert.equal(effectOfName(name) ?? 'unknown', effect, name)
    })
})

describe('what a call does, by its arguments', () => {
  const shell = (command: string): ToolEffect | null => effectOf('Bash', argumentText({ command }))

  it('is in the member action of a computer and a browser', () => {
    for (const [args, effect] of [
      [{ action: 'key', text: 'Down' }, 'act'],
      [{ action: 'left_click', coordinate: [1, 2] }, 'act'],
      [{ action: { type: 'scroll', x: 1 } }, 'act'],
      [{ action: 'wait', duration: 2 }, 'wait'],
      [{ action: 'screenshot' }, 'look'],
      [{}, 'act'],
    ] as const)
      assert.equal(effectOf('computer', argumentText(args)), effect, JSON.stringify(args))
  })
  it('is an edit where a command changes something', () => {
    const commands = [
      ...[
        'echo hi >> a.txt',
        'cat > f <<EOF\nx\nEOF',
        'sed -i s/a/b/ f',
        'perl -pi -e 1 f',
        'cd x && npm i',
        'mkdir -p a',
      ],
      ...['git -C x commit -m "a"', 'git stash', 'rm -rf build', 'sudo systemctl restart x', 'find . -exec rm {} \\;'],
      ...[
        'biome check --write .',
        "python -c \"open('a', 'w').write('b')\"",
        'a=1 touch b',
        'true; mv a b',
        'docker compose up -d',
      ],
      ...['kubectl apply -f a.yml', 'pip install x', 'tee a < b', 'gh pr create', 'uv sync', 'cargo add serde'],
      ...['INSERT INTO t VALUES (1)', 'update t set a = 1', 'DELETE FROM t', 'create table t (a int)'],
    ]
    for (const command of commands) assert.equal(shell(command), 'edit', command)
    assert.equal(effectOf('shell', argumentText({ command: ['bash', '-lc', 'echo a > b'] })), 'edit')
    assert.equal(effectOf('exec_command', argumentText({ cmd: "apply_patch <<'EOF'\n*** Begin Patch\n" })), 'edit')
    assert.equal(effectOf('execute_sql', argumentText({ query: 'ALTER TABLE t ADD b int' })), 'edit')
  })
  it('is waiting where a command passes time or asks how something is', () => {
    for (const command of [
      'sleep 45',
      'sleep 30 && gh run view 1 --json status',
      'kubectl get pods',
      'gh pr checks 7',
      'docker ps',
    ])
      assert.equal(shell(command), 'wait', command)
    assert.equal(effectOf('write_stdin', argumentText({ session_id: 1, chars: '' })), 'wait')
    assert.equal(effectOf('write_stdin', argumentText({ session_id: 1, chars: 'y\n' })), null)
    assert.equal(effectOf('background_process', argumentText({ action: 'status', id: 'a' })), 'wait')
    assert.equal(effectOf('background_process', argumentText({ action: 'start', command: 'npm test' })), null)
    const output = '/tmp/claude-0/-home-user-project/dc32690a/tasks/bdhnnc0wi.output'
    assert.equal(effectOf('Read', argumentText({ file_path: output })), 'wait')
    assert.equal(effectOf('Read', argumentText({ file_path: '/home/user/tasks.md' })), 'look')
  })
  it('is not known where a command looks or checks', () => {
    const commands = [
      ...[
        'npm test',
        'npm run typecheck',
        'ls -la 2>&1',
        'ls 2>/dev/null',
        'make >/dev/null 2>&1',
        'git status --short',
      ],
      ...[
        'sed -n 1,5p f',
        'grep "=>" f',
        'npx tsc --noEmit',
        'cargo test',
        'SELECT * FROM t',
        'git -C x diff',
        'test 2 -ge 1',
      ],
      ...['echo sleepy', 'cat rmdir.ts', 'git log --oneline', 'pytest -q', 'node -e "a => b"'],
    ]
    for (const command of commands) assert.equal(shell(command), null, command)
  })
  it('is a look where an editor only shows', () => {
    assert.equal(effectOf('str_replace_editor', argumentText({ command: 'view', path: 'a' })), 'look')
    assert.equal(effectOf('str_replace_editor', argumentText({ command: 'create', path: 'a' })), 'edit')
  })
  it('is read of hostile arguments, however long', () => {
    for (const piece of ['git ', ';a=b ', ';'.repeat(9), 'open(', '\\n', 'sudo ', '> ', 'sed -a ', '"action":"'])
      assert.doesNotThrow(() => shell(piece.repeat(100_000)))
  })
})
