import { slack } from 'guard-gateway/plugins/notifiers/slack'
import { aNotification, fakeClock } from 'guard-gateway/test'
import type { UpstreamClient } from '#lib/upstream-client'

/** The body that would go to an address, which is not asked. */
export const bodyOf = async (url: string): Promise<object> => {
  let body = ''
  const client: UpstreamClient = {
    id: 'kept',
    connect: () => ({
      send(request, listener) {
        body = String(request.body)
        setImmediate(() => {
          listener.answered({ status: 200, headers: [], body: new Uint8Array() })
          listener.over()
        })
        return { stop: () => {} }
      },
      retire: () => {},
      close: () => {},
    }),
  }
  const target = slack.connect({ url }, { clock: fakeClock(), env: () => ({}), client: () => client })
  await target.send(aNotification(), new AbortController().signal)
  return JSON.parse(body)
}
