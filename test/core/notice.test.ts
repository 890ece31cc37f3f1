import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, type Notice } from 'guard-gateway/core'

const notice: Notice = { event: 'paused', subject: 'ses_1', text: 'A session was paused.', path: '/sessions/ses_1' }

describe('a notice', () => {
  it('reaches every tap, also those behind one that throws, and its teller goes on', () => {
    const gateway = new Gateway()
    const [heard, faults]: [Notice[], string[]] = [[], []]
    gateway.hooks.fault.tap('test', (_error, where) => faults.push(where))
    gateway.hooks.notice.tap('broken', () => {
      throw new Error('no')
    })
    gateway.hooks.notice.tap('test', (one) => heard.push(one))
    gateway.hooks.notice.call(notice)
    assert.deepEqual(heard, [notice])
    assert.deepEqual(faults, ['notice:broken'])
  })
})
