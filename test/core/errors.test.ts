import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorBody, errorCodes, Gateway, GuardError, isFault, statusOf } from 'guard-gateway/core'

const quotas = errorCodes(429, 'quota_error', { QUOTA_USED: ['The quota is used up', 'Wait until tomorrow.'] })

describe('error codes of a plugin', () => {
  it('have their own status, type and texts', () => {
    const error = new GuardError(quotas.QUOTA_USED)
    assert.equal(statusOf(error), 429)
    assert.deepEqual(errorBody(error), {
      type: 'quota_error',
      code: 'QUOTA_USED',
      message: 'The quota is used up. Wait until tomorrow.',
    })
    assert.equal(isFault(error), false)
  })
  it('are known to the gateway that the plugin adds them to', () => {
    const gateway = new Gateway()
    gateway.errorCodes.add(...Object.values(quotas))
    assert.equal(gateway.errorCodes.need('QUOTA_USED').help, 'Wait until tomorrow.')
    assert.throws(() => gateway.errorCodes.add(quotas.QUOTA_USED), /error code "QUOTA_USED" is registered twice/)
    const unfit = { ...quotas.QUOTA_USED, id: 'OTHER', status: '429' as unknown as number }
    assert.throws(() => gateway.errorCodes.add(unfit), /"status" of error code "OTHER" is of type string/)
  })
})

describe('the name of a code that nobody has', () => {
  it('is a fault of 500 that says how to bring a code', () => {
    const error = new GuardError('NO_SUCH_CODE' as 'INTERNAL', 'what the plugin says')
    assert.deepEqual([error.code, error.status, error.message], ['NO_SUCH_CODE', 500, 'what the plugin says'])
    assert.equal(isFault(error), true)
    assert.match(new GuardError('NO_SUCH_CODE' as 'INTERNAL').message, /no error code NO_SUCH_CODE.*errorCodes\(\)/)
  })
})
