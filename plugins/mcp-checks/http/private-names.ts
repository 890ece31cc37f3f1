const words = (text: string): readonly string[] => text.split(/\s+/)

/** Domains with names that lead to this machine or its network. */
const SUFFIXES = [
  // resolved to private addresses by local resolvers, home and office networks, or clouds
  ...words('localhost localdomain localdomain6 local internal intranet private corp lan home home.arpa ip consul'),
  // reserved names, names inside clusters, and names of networks with their own resolvers
  ...words('test invalid svc onion i2p'),
  // public, resolved to this machine
  ...words(`localtest.me lvh.me vcap.me lacolhost.com localh.st localho.st localhost.direct localhost.tv local.gd local.computer local.sisteminha.com
    fuf.me lcl.host lndo.site ddev.site docksal.site ratchetlocal.com smackaho.st ulh.us yoogle.com fbi.com cefgo.com bugbounty.dod.network
    spoofed.burpcollaborator.net mail.ebc.apple.com`),
  // public, resolved to any address that the name spells
  ...words('nip.io sslip.io xip.io xip.name ip6.name traefik.me local-ip.sh sentinel.pentesting.us'),
  // public, resolved to a different address each time
  ...words('rbndr.us 1u.ms rebind.network rebind.it rbnd.gl0.eu'),
  // parsed as an address by Windows, without a resolver
  'ipv6-literal.net',
  // public, answered inside clouds
  ...words('metadata.tencentyun.com metadata.cloud.ibm.com metadata.packet.net metadata.platformequinix.com'),
  // answered by routers
  ...words(`fritz.box easy.box pi.hole ui.unifi routerlogin.com routerlogin.net orbilogin.com orbilogin.net tplinkwifi.net tplinkmodem.net tplogin.cn
    mwlogin.net router.asus.com repeater.asus.com asusrouter.com mywifiext.net linksyssmartwifi.com tendawifi.com setup.meraki.com`),
]

const NAMES = new Set(words('ip6-localhost ip6-loopback broadcasthost metadata metadata.goog kubernetes.default'))

/** True if a host name, in lower case, leads to this machine or its network. */
export const isPrivateName = (name: string): boolean =>
  NAMES.has(name) || SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
