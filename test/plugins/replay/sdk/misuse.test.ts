import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createGuard, type FailureTag, type GuardUseError } from 'guard-gateway/sdk'
import { named } from '../../../kit/ingest.ts'
import { guarded } from '../../../kit/sdk.ts'

describe('invalid calls', () => {
  it('after the end of a span have no effect and are reported once', async (test) => {
    const { guard, server, errors, codes } = await guarded(test)
    await guard.trace('job', (trace) => {
      const span = guard.start('step')
      span.end()
      span.event('late')
      span.set({ late: true })
      span.status('error')
      span.fail(new Error('late'))
      trace.end()
      trace.tag('late')
      trace.failureTag('loop')
      trace.artifact({ path: 'late' })
    })
    await guard.flush()
    assert.deepEqual(codes(), ['SPAN_ENDED', 'SPAN_ENDED'])
    assert.match(errors[0]?.message ?? '', /^event\(\) was called on a span that has ended, and did nothing\./)
    assert.ok(!server.requests[0]?.text.includes('late'))
    assert.equal(server.run().fields.status, 'ok')
  })

  it('omit values that the gateway would reject, and report them', async (test) => {
    const { guard, server, codes } = await guarded(test)
    await guard.trace('job', (trace) => {
      trace.status('Not A Status')
      trace.status('running')
      trace.failureTag('bad luck' as FailureTag)
      trace.failureTag('test_failure')
      trace.artifact({ path: '' })
      trace.artifact({ path: 'a', size: -1 })
      trace.artifact({ path: 'b', sha256: 'short' })
    })
    await guard.flush()
    assert.deepEqual(codes(), [
      'INVALID_STATUS',
      'INVALID_STATUS',
      'INVALID_FAILURE_TAG',
      'INVALID_ARTIFACT',
      'INVALID_ARTIFACT',
      'INVALID_ARTIFACT',
    ])
    const { fields, artifacts } = server.run()
    assert.equal(fields.status, 'ok')
    assert.equal(fields.failure_tag, 'test_failure')
    assert.deepEqual(
      [...artifacts.values()].map(({ id: _id, ...artifact }) => artifact),
      [{ path: 'a' }, { path: 'b' }],
    )
  })

  it('never throw errors of user callbacks, such as a reporter that throws or rejects', async (test) => {
    for (const onError of [
      () => {
        throw new Error('reporter')
      },
      () => Promise.reject(new Error('reporter')),
    ]) {
      const { guard } = await guarded(test, { onError })
      assert.equal(await guard.trace('job', (trace) => trace.status('Bad One') ?? 1), 1)
    }
  })
})

describe('options', () => {
  const seen: GuardUseError[] = []
  const onError = (error: Error) => void seen.push(error as GuardUseError)

  it('that are invalid are reported and replaced, and an invalid address disables recording', async (test) => {
    for (const baseUrl of ['not an address', 'ftp://127.0.0.1/']) {
      const guard = createGuard({ baseUrl, flushMs: -1, maxQueue: Number.NaN, onError })
      test.after(() => guard.close())
      assert.equal(await guard.trace('job', () => 'value'), 'value')
      assert.deepEqual(guard.stats(), { queued: 0, sent: 0, dropped: 0, failed: 0, unknown: 0 })
      assert.deepEqual(
        seen.splice(0).map(({ code, message }) => [code, message.split(' ')[0]]),
        [
          ['INVALID_OPTION', 'baseUrl'],
          ['INVALID_OPTION', 'flushMs'],
          ['INVALID_OPTION', 'maxQueue'],
        ],
      )
    }
  })

  it('default to the environment', async (test) => {
    const { server } = await guarded(test)
    const environment = { GUARD_URL: `${server.url}/gateway`, GUARD_PROJECT: 'from-env', GUARD_DISABLED: '0' }
    const before = Object.keys(environment).map((name) => [name, process.env[name]] as const)
    test.after(() => {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    })
    Object.assign(process.env, environment)
    const guard = createGuard({ handleExit: false, onError })
    await guard.trace('job', () => {})
    await guard.close()
    assert.equal(server.requests[0]?.path, '/gateway/api/v1/traces')
    assert.equal(server.run().fields.project_id, 'from-env')

    process.env.GUARD_DISABLED = '1'
    const off = createGuard({ onError })
    await off.trace('job', () => {})
    await off.close()
    assert.equal(server.requests.length, 1)
    const on = createGuard({ enabled: true, handleExit: false, onError })
    await on.trace('job', () => {})
    await on.close()
    assert.equal(server.requests.length, 2)
    assert.deepEqual(seen, [])
  })

  it('with ids that look like secrets are not sent', async (test) => {
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
    const { guard, server, codes } = await guarded(test, { project: token, agent: 'me@example.com' })
    await guard.trace('job', { sessionId: token, traceId: token }, () => {
      assert.deepEqual(Object.keys(guard.headers()), ['traceparent'])
    })
    await guard.flush()
    assert.deepEqual(codes(), ['INVALID_ID', 'INVALID_ID', 'INVALID_ID'])
    assert.deepEqual([server.run().fields.project_id, server.run().fields.session_id], [undefined, undefined])
    assert.ok(named(server.run().spans, 'agent.run'))
  })

  it('with ids that the gateway would reject lose no trace and no model request', async (test) => {
    const { guard, server, codes } = await guarded(test, { project: 'our project', agent: 'our agent' })
    await guard.trace('job', { sessionId: 'night run' }, () => {
      assert.deepEqual(Object.keys(guard.headers()), ['traceparent'])
    })
    await guard.flush()
    assert.deepEqual(codes(), ['INVALID_ID', 'INVALID_ID'])
    const { project_id, session_id, agent_name } = server.run().fields
    assert.deepEqual([project_id, session_id, agent_name], [undefined, undefined, 'our agent'])
  })
})

describe('without onError', () => {
  it('there is at most one warning per kind and minute on stderr, without secrets', async (test) => {
    const lines: string[] = []
    test.mock.timers.enable({ apis: ['Date'] })
    test.mock.method(process.stderr, 'write', (text: string) => lines.push(text) > 0)
    const guard = createGuard({ baseUrl: 'http://127.0.0.1:9', key: 'guard_key_0123456789', handleExit: false })
    const misuse = () =>
      guard.span('step', (span) => {
        span.status('guard_key_0123456789 is none')
        span.end()
        span.end()
        span.event('late')
      })
    misuse()
    misuse()
    test.mock.timers.tick(60_000)
    misuse()
    test.mock.restoreAll()
    assert.equal(lines.length, 4)
    assert.match(lines[0] ?? '', /^guard-gateway\/sdk: "\[REDACTED:\w+\] is none" is no status .*\(INVALID_STATUS\)\n$/)
    assert.match(lines[1] ?? '', /\(SPAN_ENDED\)\n$/)
  })
})
