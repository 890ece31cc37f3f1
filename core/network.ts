export { type ConnectionFault, connectionFault } from './network/connection-fault.ts'
export {
  firstHop,
  type Hop,
  isTunnelled,
  openSocket,
  requestPrefix,
  secureOptions,
} from './network/first-hop.ts'
export { isThisMachine, type NoProxy, noProxy } from './network/no-proxy.ts'
export { proxyAddress, proxyPassword } from './network/proxy-address.ts'
export { directTo, type ProxyChoice, type ProxySettings, proxyChoice } from './network/proxy-choice.ts'
export { ProxyFault, unreachableProxy } from './network/proxy-fault.ts'
export { trustOf } from './network/trust.ts'
export { openTunnel, type TunnelRequest } from './network/tunnel.ts'
export { behindProxy } from './network/whole-url.ts'
