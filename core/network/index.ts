export { type ConnectionFault, connectionFault } from './connection-fault.ts'
export {
  firstHop,
  type Hop,
  isTunnelled,
  openSocket,
  requestPrefix,
  secureOptions,
} from './first-hop.ts'
export { isThisMachine, type NoProxy, noProxy } from './no-proxy.ts'
export { proxyAddress, proxyPassword } from './proxy-address.ts'
export { directTo, type ProxyChoice, type ProxySettings, proxyChoice } from './proxy-choice.ts'
export { ProxyFault, unreachableProxy } from './proxy-fault.ts'
export { trustOf } from './trust.ts'
export { openTunnel, type TunnelRequest } from './tunnel.ts'
export { behindProxy } from './whole-url.ts'
