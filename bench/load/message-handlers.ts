import type { ChildMessages, ChildRequest, ChildResponse, MessageName } from './child-messages.ts'

type Handler = (input: never) => unknown

const handlers = new Map<string, Handler>()

/** Registers the handler of a message from the parent process. An error of the handler becomes the error of the response. */
export const onMessage = <K extends MessageName>(
  name: K,
  handler: (input: ChildMessages[K][0]) => ChildMessages[K][1] | Promise<ChildMessages[K][1]>,
): void => {
  if (handlers.size === 0) process.on('message', (request) => void reply(request as ChildRequest))
  handlers.set(name, handler)
}

const reply = async ({ id, name, input }: ChildRequest): Promise<void> => {
  const send = (message: ChildResponse) => process.send?.(message)
  const handler = handlers.get(name)
  if (handler === undefined) return void send({ id, error: `this process does not answer "${name}"` })
  try {
    send({ id, value: await handler(input as never) })
  } catch (error) {
    send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

/** Keeps this process alive while its parent can send messages. */
export const waitForParent = (): void => process.channel?.ref()
