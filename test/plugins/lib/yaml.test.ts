import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readLongYaml, SHORT_CHARS } from '../../../plugins/lib/yaml.ts'
import { withoutProcesses } from '../../kit/no-processes.ts'

it('YAML of up to 4,096 characters is read without a process, longer never', () =>
  withoutProcesses(async () => {
    assert.equal(SHORT_CHARS, 4_096)
    const address = import.meta.resolve('yaml')
    const { value, locate } = await readLongYaml(address, 'a: {b: 1}'.padEnd(SHORT_CHARS))
    assert.deepEqual(value, { a: { b: 1 } })
    assert.deepEqual(locate(['a', 'b']), { line: 1, column: 5 })
    await assert.rejects(readLongYaml(address, 'a: 1'.padEnd(SHORT_CHARS + 1)), { code: 'PARSER_UNAVAILABLE' })
  }))
