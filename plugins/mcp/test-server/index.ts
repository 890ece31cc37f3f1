export { type ServedHttp, serveHttp } from './http/serve.ts'
export { isMisbehaviour, type Misbehaviour, misbehaviours } from './misbehave.ts'
export { TestServer, type TestServerOptions } from './server.ts'
export { serveStdio } from './stdio.ts'
