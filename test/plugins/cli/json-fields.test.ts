import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GuardError } from 'guard-gateway/core'
import type { Command } from '#lib/command'
import { chosenFields, FieldFilter } from '../../../plugins/cli/json-fields.ts'
import { parse } from '../../../plugins/cli/parse.ts'
import { fakeIo } from '../../kit/io.ts'

const command = (id: string, args?: string): Command => ({
  id,
  ...(args === undefined ? {} : { args }),
  summary: id,
  run: async () => 0,
})
const commands = [command('replay list'), command('replay show', '<trace_id>'), command('setup', '[...clients]')]

const read = (...argv: readonly string[]) => {
  const parsed = parse(commands, argv)
  if (parsed.kind !== 'run') return parsed.kind === 'wrong' ? parsed.message : parsed.kind
  return [parsed.input.args, parsed.input.options.json, parsed.input.options.jsonFields]
}

const chosen = async (fields: readonly string[], ...written: readonly string[]) => {
  const io = fakeIo()
  const filter = new FieldFilter(fields, io.out)
  for (const text of written) filter.write(text)
  await filter.finish()
  return io.outText()
}

describe('--json with fields', () => {
  it('is told from an argument of the command', () => {
    assert.deepEqual(read('replay', 'list', '--json', 'id,status'), [[], true, ['id', 'status']])
    assert.deepEqual(read('replay', 'list', '--json', 'id'), [[], true, ['id']])
    assert.deepEqual(read('replay', 'list', '--json=id'), [[], true, ['id']])
    assert.deepEqual(read('replay', 'list', '--json'), [[], true, undefined])
    assert.deepEqual(read('replay', 'show', '--json', 'run-1'), [['run-1'], true, undefined])
    assert.deepEqual(read('replay', 'show', 'run-1', '--json', 'status'), [['run-1'], true, ['status']])
    assert.deepEqual(read('replay', 'show', '--json', 'status', 'run-1'), [['run-1'], true, ['status']])
    assert.deepEqual(read('--json', 'replay', 'list'), [[], true, undefined])
    assert.deepEqual(read('replay', '--json', 'list'), [[], true, undefined])
    assert.deepEqual(read('setup', '--json', 'codex'), [['codex'], true, undefined])
    assert.deepEqual(read('setup', 'codex', '--json=folder'), [['codex'], true, ['folder']])
  })

  it('takes names alone', () => {
    for (const typed of ['--json=a b', '--json=', '--json=a,,b', '--json=$.x'])
      assert.match(String(read('replay', 'list', typed)), /^--json takes names of fields, as in --json id,status, not /)
  })

  it('cuts rows of a list, the one thing of a document, or the document itself', () => {
    const page = { runs: [{ id: 'a', status: 'ok', n: 1 }, { id: 'b' }], next_cursor: 'x' }
    assert.deepEqual(chosenFields(page, ['status', 'id']), [
      { status: 'ok', id: 'a' },
      { status: null, id: 'b' },
    ])
    assert.deepEqual(chosenFields({ session: { id: 's', cost: { micro: 7 } } }, ['cost.micro']), { 'cost.micro': 7 })
    assert.deepEqual(chosenFields({ run: { status: 'ok', id: 1 }, spans: [2], id: 3 }, ['status', 'spans', 'id']), {
      status: 'ok',
      spans: [2],
      id: 3,
    })
    assert.deepEqual(chosenFields({ mode: 'shadow', rules: [1] }, ['mode']), { mode: 'shadow' })
    assert.deepEqual(chosenFields({ runs: [], next_cursor: null }, ['id']), [])
  })

  it('names the fields that there are for one that there is not', () => {
    const fault = (error: GuardError) =>
      error.code === 'USAGE' &&
      error.message === 'There is no field "statu"; there is id, status. Did you mean "status"?'
    assert.throws(() => chosenFields({ runs: [{ id: 1, status: 2 }] }, ['statu']), fault)
    assert.throws(() => chosenFields({ runs: [{ id: 1, status: 2 }] }, ['statu']), fault)
    for (const field of ['__proto__', 'constructor', 'toString'])
      assert.throws(() => chosenFields({ runs: [{ id: 1 }] }, [field]), { code: 'USAGE' })
  })

  it('takes documents as they are written: in pieces, one a line, over several lines, and large numbers', async () => {
    assert.equal(await chosen(['n'], '{"n":12345678901234567890,', '"m":1}\n'), '{"n":12345678901234567890}\n')
    assert.equal(await chosen(['n'], '{"n":1}\n{"n":2}\n', '{"n":3}\n'), '{"n":1}\n{"n":2}\n{"n":3}\n')
    assert.equal(await chosen(['n'], '{\n  "n": {\n', '    "a": 1\n  },\n"m": 1}\n'), '{"n":{"a":1}}\n')
    assert.equal(await chosen(['n'], 'no document'), 'no document')
    await assert.rejects(chosen(['x'], '{"n":1}\n', '{"n":2}\n'), { code: 'USAGE' })
  })
})
