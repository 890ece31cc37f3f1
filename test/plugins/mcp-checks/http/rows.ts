/** URLs that go where `hosts: [api.example.com, "*.docs.example.com", xn--bcher-kva.de, 93.184.216.34, "[2606:4700::1111]"]` lets them. */
export const ordinary: readonly string[] = `
https://api.example.com
https://api.example.com/
HTTPS://api.example.com/
https://API.EXAMPLE.COM/v1
https://api.example.com:443/v2/items
https://api.example.com/v1/items?q=a%20b&n=2
https://api.example.com/search?q=a b
https://api.example.com/?next=https://evil.com/
https://api.example.com/@user/post
https://api.example.com/a@b?c@d
https://api.example.com/a?x=1#section
https://api.example.com?q=1
https://api.example.com#top
https://api.example.com/a/../b
https://api.example.com//double
https://api.example.com/%2e%2e/x
https://api.example.com/日本語
https://api.example.com/a\\b
https://api.example.com/a;b=c,d
https://api.example.com/https://evil.com
https://api.example.com/127.0.0.1
https://api.example.com/localhost
https://v2.docs.example.com/guide
https://a.b.docs.example.com/
https://xn--bcher-kva.de/
https://my_host.docs.example.com/
https://a-b.docs.example.com/
https://0.docs.example.com/
https://localhost.docs.example.com/
https://127.0.0.1.docs.example.com/
https://93.184.216.34/
https://93.184.216.34:443/x
https://[2606:4700::1111]/
https://[2606:4700::1111]:443/x
https://api.example.com/?url=http://169.254.169.254/
https://api.example.com/path?redirect=file:///etc/passwd
https://api.example.com/graphql?query={a}
https://api.example.com/a%00b
https://api.example.com/?a=%0d%0a
https://api.example.com/~user/
https://api.example.com/'quoted'
https://api.example.com/"quoted"
https://api.example.com/a|b
https://api.example.com/a:8080/b
https://api.example.com/?#
https://api.example.com/?
https://api.example.com/#
https://api.example.com/a?b#c@d
https://v1.v2.v3.docs.example.com/x/y/z.html
https://api.example.com/v1/users/1/posts?limit=10&offset=20`
  .split('\n')
  .slice(1)

/** URLs that go elsewhere, or that two parsers may read differently. */
export const attacks: readonly string[] = [
  ...`
http://api.example.com/
ftp://api.example.com/
file:///etc/passwd
javascript:alert(1)
data:text/plain,x
gopher://api.example.com/
ws://api.example.com/
wss://api.example.com/
blob:https://api.example.com/1
view-source:https://api.example.com/
jar:https://api.example.com!/x
https:api.example.com
https:/api.example.com
https:///api.example.com
https:////api.example.com
https:\\\\api.example.com
https:/\\api.example.com
//api.example.com/
/v1/items
api.example.com
api.example.com:443
https://
https://?x
https://evil.com/
https://example.com/
https://docs.example.com/
https://xdocs.example.com/
https://api.example.com.evil.com/
https://evil-api.example.com/
https://evilapi.example.com/
https://api.example.comevil.com/
https://api-example.com/
https://apiXexample.com/
https://.docs.example.com/
https://a..docs.example.com/
https://api.example.com./
https://api.example.com../
https://a.docs.example.com./
https://api.example.com@evil.com/
https://evil.com@api.example.com/
https://user:pass@api.example.com/
https://@api.example.com/
https://:@api.example.com/
https://api.example.com:443@evil.com/
https://api.example.com:@evil.com/
https://api.example.com%40evil.com/
https://api.example.com%2fevil.com/
https://api.example.com%23@evil.com/
https://api.example.com%00.evil.com/
https://api%2eexample.com/
https://api.example.com\\@evil.com/
https://api.example.com\\.evil.com/
https://evil.com\\@api.example.com/
https://evil.com\\.docs.example.com/
https://evil.com#@api.example.com/
https://evil.com?@api.example.com/
https://api.example.com#@evil.com/
https://api.example.com?@evil.com/
https://api.example.com;@evil.com/
https://api.example.com,evil.com/
https://api.example.com;evil.com/
https://api.example.com&evil.com/
https://api.example.com evil.com/
https://api.example.com /
https:// api.example.com/
 https://api.example.com/
https://api.example.com:8443/
https://api.example.com:80/
https://api.example.com:0443/
https://api.example.com:/
https://api.example.com:+443/
https://api.example.com:443:443/
https://api.example.com:99999/
https://api.example.com:-1/
https://api.example.com:4 43/
https://api。example.com/
https://api．example.com/
https://ａｐｉ.example.com/
https://api.exаmple.com/
https://api.example.cоm/
https://bücher.de/
https://api.example.com｡evil.com/
https://evil。docs.example.com/
https://api.example.com／evil.com/
https://api.example.com＠evil.com/
https://api.example.com＃.evil.com/
https://api.example.com℀.evil.com/
https://ⓐpi.example.com/
https://api.ex\u00adample.com/
https://api.ex\u200bample.com/
https://\u202eapi.example.com/
https://127.0.0.1/
https://127.1/
https://127.0.1/
https://2130706433/
https://0x7f000001/
https://0x7f.0.0.1/
https://0177.0.0.1/
https://017700000001/
https://127.0.0.01/
https://127.0.0.1./
https://0/
https://0.0.0.0/
https://93.184.216.034/
https://93.184.55330/
https://1572395042/
https://0x5db8d822/
https://[::1]/
https://[0:0:0:0:0:0:0:1]/
https://[::]/
https://[::ffff:127.0.0.1]/
https://[::ffff:7f00:1]/
https://[2606:4700:0:0:0:0:0:1111]/
https://[2606:4700::1111%25eth0]/
https://[2606:4700::1111/
https://2606:4700::1111/
https://[api.example.com]/
https://localhost/
https://LOCALHOST/
https://a.localhost/
https://printer.local/
https://metadata.google.internal/
https://169.254.169.254/latest/meta-data/
https://[fd00:ec2::254]/
https://①②⑦.0.0.1/
https://(api.example.com)/
https://api.example.com'/
https://api.example.com"/
https://api.example.com</
https://*.docs.example.com/
https://{a}.docs.example.com/
https://$a.docs.example.com/
https://a!.docs.example.com/`
    .split('\n')
    .slice(1),
  'https://api.example.com/\n',
  'https://api.example.com\t/',
  'https://api.exam\nple.com/',
  'ht\ntps://api.example.com/',
  'https://api.example.com/\r\nHost: evil.com',
  'https://api.example.com\0.evil.com/',
  '\u0000https://api.example.com/',
  'https://api.example.com/\u007f',
  'https://api.example.com/\u0085',
  'https://api.example.com\u00a0/',
  'https://api.example.com\u3000/',
  '\ufeffhttps://api.example.com/',
  '',
]

/** Hosts that are refused even where every host is allowed. */
export const privateHosts: readonly string[] = `
localhost a.localhost localhost.localdomain printer.local db.internal metadata.google.internal router.home.arpa nas.lan intranet metadata db
10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255 127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3
169.254.169.254 169.254.0.1 100.64.0.1 100.100.100.200 192.0.0.192 192.0.2.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1
224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 192.88.99.1 168.63.129.16
[::] [::1] [::ffff:7f00:1] [::ffff:a00:1] [::ffff:a9fe:a9fe] [::7f00:1] [::a00:1] [::ffff:0:7f00:1]
[64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::808:808] [2002:7f00:1::] [2002:a00:1::1] [2001:0:808:808::80ff:fffe] [2001:0:7f00:1::f7f7:f7f7]
[fc00::1] [fd00:ec2::254] [fe80::1] [febf::1] [fec0::1] [ff02::1] [100::1] [2001:db8::1] [3fff::1] [5f00::1] [4000::1] [2001:2::1] [2001:10::1] [2001:20::1]
[2606:4700::5efe:a00:1] [2606:4700::200:5efe:7f00:1] 127.0.0.1.nip.io 10-0-0-1.sslip.io app.localtest.me lvh.me`
  .trim()
  .split(/\s+/)

/** Hosts of the open Internet. */
export const publicHosts: readonly string[] = `
example.com api.github.com a.co 8.8.8.8 1.1.1.1 93.184.216.34 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 192.167.1.1 11.0.0.1 126.255.255.255
128.0.0.1 169.253.1.1 198.17.1.1 198.20.0.1 223.255.255.255 [2606:4700:4700::1111] [2a00:1450:4001::200e] [::ffff:808:808] [64:ff9b::808:808] [2002:808:808::1]
[2001:4860:4860::8888] localhost.com local.example.com internal.example.com mylocalhost.net xn--bcher-kva.de`
  .trim()
  .split(/\s+/)
