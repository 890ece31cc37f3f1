import type { Attempt, Gateway } from 'guard-gateway/core'

/** Failed requests in a row after which an upstream counts as failing. */
const FAILING = 3

/** Tells of an upstream that fails again and again, once until it works. */
export const tellOfUpstreams = (gateway: Gateway): void => {
  const failures = new Map<string, number>()
  gateway.hooks.settle.tap('notify', ({ attempts }) => {
    for (const attempt of attempts) {
      if (attempt.error === 'CLIENT_GONE') continue
      const { upstream } = attempt
      if (!hasFailed(attempt)) {
        failures.delete(upstream)
        continue
      }
      const count = (failures.get(upstream) ?? 0) + 1
      failures.set(upstream, count)
      if (count === FAILING) gateway.hooks.notice.call(noticeOf(attempt))
    }
  })
}

/** A request that the upstream refuses is no failure of it. */
const hasFailed = ({ status }: Attempt): boolean => status === null || status >= 500

const noticeOf = ({ upstream, status, error }: Attempt) => ({
  event: 'upstream_failing',
  subject: upstream,
  text: `Upstream "${upstream}" has failed ${FAILING} times in a row, the last time with ${status ?? error ?? 'no answer'}.`,
  path: '/',
})
