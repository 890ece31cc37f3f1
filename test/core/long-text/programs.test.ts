import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { it } from 'node:test'
import wabt from 'wabt'
import { programs } from '../../../core/long-text/programs.ts'

for (const name of ['digest', 'scan'] as const) {
  it(`the program ${name} that is kept is what its source assembles to`, async () => {
    const source = await readFile(new URL(`../../../core/long-text/${name}.wat`, import.meta.url), 'utf8')
    const module = (await wabt()).parseWat(`${name}.wat`, source, { simd: true })
    module.validate()
    const assembled = Buffer.from(module.toBinary({}).buffer).toString('base64')
    module.destroy()
    assert.equal(programs[name], assembled, `${name} in core/long-text/programs.ts should be ${assembled}`)
  })
}
