import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { jsonElements } from '#lib/trace-file'
import { ImportFile } from '../../../../plugins/lib/trace-file/read/file.ts'

const lists = { data: { spans: {} }, alone: {} }

/** What is read of a text: path, line and text of each element, or the code of the error. */
const read = (chunks: readonly Buffer[], maxDepth: number): readonly unknown[] | string => {
  try {
    const file = new ImportFile(() => chunks)
    return [...jsonElements(file, lists, maxDepth)].map(({ path, line, text }) => [path.join('.'), line, text])
  } catch (error) {
    if (error instanceof GuardError) return error.code
    throw error
  }
}

const elementsOf = (text: string, maxDepth = 20): readonly unknown[] | string => {
  const bytes = Buffer.from(text)
  const whole = read([bytes], maxDepth)
  const pieces = [...bytes].map((byte) => Buffer.of(byte))
  assert.deepEqual(read(pieces, maxDepth), whole, 'in pieces of a byte')
  return whole
}

describe('the elements of a JSON file', () => {
  it('come one by one, then what held them, with the line each starts on', () => {
    const text =
      '{\n "data": [\n  {"id": 1, "spans": [{"a": [1, {}]},\n 2]},\n  {"spans": []}\n ],\n "x": {"data": [3]}, "data": 4}'
    assert.deepEqual(elementsOf(text), [
      ['data.0.spans.0', 3, '{"a": [1, {}]}'],
      ['data.0.spans.1', 3, '\n 2'],
      ['data.0', 3, '{"id": 1, "spans": [\n]}'],
      ['data.1', 5, '{"spans": []}'],
      ['', 1, '{\n "data": [\n\n\n\n],\n "x": {"data": [3]}, "data": 4}'],
    ])
  })
  it('are found by names as JSON writes them, in the outermost object alone', () => {
    assert.deepEqual(elementsOf('{"\\u0061lone":["x,]"],"toString":[1],"in":{"alone":[2]}}'), [
      ['alone.0', 1, '"x,]"'],
      ['', 1, '{"\\u0061lone":[],"toString":[1],"in":{"alone":[2]}}'],
    ])
    assert.deepEqual(elementsOf('[1, {"data": []}]'), [['', 1, '[1, {"data": []}]']])
    assert.deepEqual(elementsOf(' 7 '), [['', 1, ' 7 ']])
  })
  it('are refused where commas or brackets are', () => {
    const broken = [
      '',
      ' ',
      '1, 2',
      '{"alone":[1,]}',
      '{"alone":[,1]}',
      '{"alone":[1,,2]}',
      '{"data":[{} {}]}',
      '{"data":[{} 1]}',
      '{"data":[1 {}]}',
      '{"data":[{},]}',
      '{"alone":[1}',
      '{"alone":[1]]',
      '{"alone":[1]}}',
      '{"alone":[1]',
      '{"x":{"y":1}',
    ]
    for (const text of broken) assert.equal(elementsOf(text), 'INVALID_JSON', text)
  })
  it('may nest so deep and no deeper', () => {
    const text = '{"data":[{"spans":[{"a":[0]}]}]}'
    assert.equal(elementsOf(text, 6).length, 3)
    assert.equal(elementsOf(text, 5), 'TOO_DEEP')
    assert.equal(elementsOf('[[0]]', 1), 'TOO_DEEP')
  })
})
