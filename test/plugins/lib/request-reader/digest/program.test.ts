import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import wabt from 'wabt'
import { program } from '../../../../../plugins/lib/request-reader/digest/program.ts'

it('the program that is kept is what its source assembles to', async () => {
  const source = await readFile(
    new URL('../../../../../plugins/lib/request-reader/digest/scan.wat', import.meta.url),
    'utf8',
  )
  const module = (await wabt()).parseWat('scan.wat', source, { simd: true })
  module.validate()
  const assembled = Buffer.from(module.toBinary({}).buffer).toString('base64')
  module.destroy()
  assert.equal(program, assembled, `plugins/lib/request-reader/digest/program.ts should hold ${assembled}`)
})
