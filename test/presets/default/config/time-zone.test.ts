import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { parseConfig } from '../../../../presets/default/config.ts'

const parse = (zone: string) =>
  parseConfig(
    `gateway_key: guard_0123456789abcdef\nbudgets:\n  time_zone: ${JSON.stringify(zone)}\n`,
    '/etc/guard/guard-config.yml',
    {},
  )

describe('budgets.time_zone', () => {
  it('rejects an unknown zone, with a valid example', async () => {
    for (const bad of ['Europe/Atlantis', 'Berlin', '+25:00', ' '])
      await assert.rejects(
        () => parse(bad),
        (error) => {
          assert.ok(error instanceof GuardError)
          assert.equal(error.code, 'INVALID_CONFIG')
          assert.equal(
            error.message,
            `guard-config.yml:3:3: budgets.time_zone: there is no time zone ${JSON.stringify(bad)}; name one like "Europe/Berlin" or "UTC", or leave it empty for that of the system`,
          )
          return true
        },
      )
  })
  it('accepts a zone, an offset, or empty for the system’s', async () => {
    for (const good of ['', 'UTC', 'Europe/Berlin', 'Asia/Kathmandu', '+05:30'])
      assert.equal((await parse(good)).config.budgets.time_zone, good)
  })
})
