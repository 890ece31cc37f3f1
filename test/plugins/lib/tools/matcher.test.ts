import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toolMatcher } from '#lib/tools'
import { lastPart, wordsOf } from '../../../../plugins/lib/tools/effect.ts'

describe('the words of a tool name', () => {
  it('are found however they are joined', () => {
    for (const name of ['MultiEdit', 'multi_edit', 'multi-edit', 'multiEdit', 'MULTI_EDIT', 'multi edit'])
      assert.deepEqual(wordsOf(name), ['multi', 'edit'], name)
    assert.deepEqual(wordsOf('API-post-page'), ['api', 'post', 'page'])
    assert.deepEqual(wordsOf('readHTMLFile2'), ['read', 'html', 'file', '2'])
    assert.deepEqual(wordsOf('überSetzen'), ['über', 'setzen'])
  })
  it('are those of the last part of a qualified name', () => {
    for (const name of [
      'mcp__files__edit_file',
      'files.edit_file',
      'files/edit_file',
      'files:edit_file',
      'edit_file__',
    ])
      assert.equal(lastPart(name), 'edit_file', name)
  })
  it('are none where there are none', () => {
    for (const name of ['', '__', '…', '💥', '\ud800', '.'.repeat(5000)])
      assert.deepEqual(wordsOf(lastPart(name)), [], name)
  })
  it('are read of names of any length in no time', () => {
    const long = 'aB_'.repeat(4_000_000)
    assert.ok(wordsOf(lastPart(long)).length < 600)
  })
})

describe('a pattern for tool names', () => {
  const means = (pattern: string, name: string): boolean => toolMatcher([pattern])(name)

  it('means a name without case, by words, and qualified names by their last part', () => {
    const edits = [
      'Edit',
      'edit',
      'MultiEdit',
      'NotebookEdit',
      'str_replace_editor',
      'mcp__filesystem__edit_file',
      'fs.editFile',
    ]
    for (const name of edits) assert.ok(means('edit*', name), name)
    assert.ok(means('Edit', 'MultiEdit'))
    assert.ok(means('str_replace*', 'StrReplaceEditor'))
    assert.ok(means('*wait*', 'browser_wait_for'))
    assert.ok(means('TodoWrite', 'todo_write'))
    assert.ok(means('mcp__files__*', 'mcp__files__read'))
    assert.ok(means('*', ''))
  })
  it('does not mean parts of words, or other words', () => {
    assert.ok(!means('edit*', 'credit_card'))
    assert.ok(!means('Edit', 'EditFile'))
    assert.ok(!means('bash', 'BashOutput'))
    assert.ok(!means('mcp__files__*', 'mcp__web__read'))
    assert.ok(!means('wait', 'await_it'))
  })
  it('takes a name for a name, whatever it looks like', () => {
    assert.ok(!means('edit', '*'))
    assert.ok(!means('edit', '.*'))
    assert.ok(means('edit*', 'edit*'))
    assert.ok(means('***', 'x'))
    assert.ok(!means('(', ')'))
  })
  it('is told for as many names as come', () => {
    const matcher = toolMatcher(['edit*'])
    for (let n = 0; n < 5000; n++) assert.equal(matcher(`tool_${n}`), false)
    assert.equal(matcher('Edit'), true)
  })
})
