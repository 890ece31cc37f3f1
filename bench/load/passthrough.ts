import { onMessage, waitForParent } from './message-handlers.ts'
import { listenAsPassthrough } from './passthrough-server.ts'

onMessage('listen', ({ upstream }) => listenAsPassthrough(upstream))
waitForParent()
