const words = (text: string): readonly string[] => text.split(/\s+/)

/** Domains whose names do not lead to the Internet, or lead from there back to this machine and its network. */
const SUFFIXES = [
  // that a resolver, a network at home or at work, or a cloud answers with addresses of its own
  ...words('localhost localdomain localdomain6 local internal intranet private corp lan home home.arpa ip consul'),
  // that no public resolver may answer, those inside of clusters, and those of networks with resolvers of their own
  ...words('test invalid svc onion i2p'),
  // public, for this machine
  ...words(`localtest.me lvh.me vcap.me lacolhost.com localh.st localho.st localhost.direct localhost.tv local.gd local.computer local.sisteminha.com
    fuf.me lcl.host lndo.site ddev.site docksal.site ratchetlocal.com smackaho.st ulh.us yoogle.com fbi.com cefgo.com bugbounty.dod.network
    spoofed.burpcollaborator.net mail.ebc.apple.com`),
  // public, for any address that a caller spells in them
  ...words('nip.io sslip.io xip.io xip.name ip6.name traefik.me local-ip.sh sentinel.pentesting.us'),
  // public, for one address now and another later
  ...words('rbndr.us 1u.ms rebind.network rebind.it rbnd.gl0.eu'),
  // read as an address by Windows, without a resolver
  'ipv6-literal.net',
  // public, answered from within by clouds
  ...words('metadata.tencentyun.com metadata.cloud.ibm.com metadata.packet.net metadata.platformequinix.com'),
  // and by routers
  ...words(`fritz.box easy.box pi.hole ui.unifi routerlogin.com routerlogin.net orbilogin.com orbilogin.net tplinkwifi.net tplinkmodem.net tplogin.cn
    mwlogin.net router.asus.com repeater.asus.com asusrouter.com mywifiext.net linksyssmartwifi.com tendawifi.com setup.meraki.com`),
]

const NAMES = new Set(words('ip6-localhost ip6-loopback broadcasthost metadata metadata.goog kubernetes.default'))

/** Whether a host name leads to the machine or its network by the name alone. Lower case. */
export const isPrivateName = (name: string): boolean =>
  NAMES.has(name) || SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
