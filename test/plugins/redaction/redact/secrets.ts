import { alnum, digits, hex, join, upper, url64 } from './random.ts'

/** A text that holds a secret, and the part of it that must not come out. */
export interface Sample {
  readonly text: string
  readonly secret: string
}

const whole = (...parts: readonly string[]): Sample => ({ text: join(...parts), secret: join(...parts) })
const inside = (before: string, secret: string, after = ''): Sample => ({ text: before + secret + after, secret })

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const base64url = (text: string): string => Buffer.from(text).toString('base64url')
const header = base64url('{"alg":"HS256","typ":"JWT"}')
const claims = base64url('{"sub":"1234567890","iat":1516239022}')

/** Digits of a card with its check digit. */
const card = (prefix: string, length: number): string => {
  const body = prefix + digits(length - prefix.length - 1)
  let sum = 0
  for (let at = 0; at < body.length; at++) {
    const digit = Number(body[body.length - 1 - at])
    const doubled = digit * 2
    sum += at % 2 === 1 ? digit : doubled > 9 ? doubled - 9 : doubled
  }
  return body + String((10 - (sum % 10)) % 10)
}
const grouped = (number: string, sizes: readonly number[], by: string): string => {
  const starts = sizes.map((_size, at) => sizes.slice(0, at).reduce((sum, size) => sum + size, 0))
  return sizes.map((size, at) => number.slice(starts[at], (starts[at] ?? 0) + size)).join(by)
}

/** An account number of a country with its check digits. */
const iban = (country: string, account: string): string => {
  const numeric = Array.from(`${account}${country}00`, (character) => String(Number.parseInt(character, 36))).join('')
  return country + String(98n - (BigInt(numeric) % 97n)).padStart(2, '0') + account
}

const lines = (count: number): string => Array.from({ length: count }, () => alnum(64)).join('\n')
const pem = (label: string, body: string, end = true): string =>
  join('-----BEGIN ', label, '-----\n', body, end ? join('\n-----END ', label, '-----') : '')

const keys: readonly Sample[] = [
  whole('sk-ant-', 'api03-', url64(93), 'AA'),
  whole('sk-proj-', url64(74)),
  whole('sk-', alnum(48)),
  whole('AIza', url64(35)),
  whole('AKIA', upper(16)),
  whole('ghp_', alnum(36)),
  whole('github_pat_', alnum(22), '_', alnum(59)),
  whole('glpat-', url64(20)),
  whole('npm_', alnum(36)),
  whole('pypi-', 'AgEIcHlwaS5vcmc', url64(90)),
  whole('hf_', alnum(34)),
  whole('gsk_', alnum(52)),
  whole('xox', 'b-', digits(12), '-', digits(12), '-', alnum(24)),
  whole('sk_', 'live_', alnum(24)),
  whole('whsec_', alnum(32)),
  whole('SG.', url64(22), '.', url64(43)),
  whole('xkeysib-', hex(64), '-', alnum(16)),
  whole('dop_v1_', hex(64)),
  whole('hvs.', url64(95)),
  whole('shpat_', hex(32)),
  whole('NRAK-', upper(27)),
  whole('glsa_', alnum(32), '_', hex(8)),
  whole('sntryu_', hex(64)),
  whole('dckr_pat_', url64(27)),
  whole('key-', hex(32)),
  whole(hex(32), '-us12'),
  whole(digits(9), ':AA', url64(33)),
  whole(base64url('283746502938475610').replace(/=+$/, ''), '.', alnum(6), '.', url64(30)),
  whole('abc8Q', '~', alnum(34)),
  whole(alnum(14), '.atlasv1.', alnum(64)),
  whole('gak_', url64(43)),
  whole('guard_', url64(43)),
  whole('AGE-SECRET-', 'KEY-1', upper(58)),
]

const names: readonly Sample[] = [
  inside('password=', alnum(12)),
  inside('DB_PASSWORD: ', alnum(9)),
  inside('"api_key": "', alnum(20), '", "x": 1'),
  inside('--token ', alnum(16), ' --verbose'),
  inside('--client-secret=', alnum(16)),
  inside('export AWS_SECRET_ACCESS_KEY=', alnum(40)),
  inside('<password>', alnum(10), '</password>'),
  inside('<add key="DbPassword" value="', alnum(10), '"/>'),
  inside('<dict><key>Password</key><string>', alnum(10), '</string></dict>'),
  inside('<string name="api_key">', alnum(10), '</string>'),
  inside('name: API_KEY\n  value: ', alnum(14)),
  inside('Server=db;User Id=sa;Password=', alnum(12), ';Encrypt=true'),
  inside('AccountName=x;AccountKey=', `${base64(alnum(40))}`, ';EndpointSuffix=core'),
  inside("$config['password'] = '", alnum(10), "';"),
  inside('const apiKey = "', alnum(18), '"'),
  inside('secret := "', alnum(18), '"'),
  inside('grant_type=x&client_secret=', alnum(18), '&scope=y'),
  inside('password: ', 'correct horse battery staple'),
  inside('PGPASSWORD=', 'hunter', ' psql'),
  inside('curl -u me:', alnum(10), ' https://host/'),
  inside('"passphrase" => "', alnum(10), '"'),
  inside('-Dkeystore.password=', alnum(10), ' Main'),
  inside('pass\u200bword=', alnum(10)),
]

const privateKeys: readonly Sample[] = [
  ...[
    'RSA PRIVATE KEY',
    'EC PRIVATE KEY',
    'DSA PRIVATE KEY',
    'PRIVATE KEY',
    'ENCRYPTED PRIVATE KEY',
    'OPENSSH PRIVATE KEY',
    'PGP PRIVATE KEY BLOCK',
  ].map((label) => {
    const body = lines(3)
    return { text: `before\n${pem(label, body)}\nafter`, secret: body }
  }),
  ...[lines(2)].map((body) => ({ text: pem('RSA PRIVATE KEY', body, false), secret: body })),
  ...[alnum(64)].map((body) => ({ text: `"${pem('PRIVATE KEY', body).replaceAll('\n', '\\n')}", "b"`, secret: body })),
  ...[alnum(64)].map((body) => ({
    text: join('---- BEGIN SSH2 ENCRYPTED ', 'PRIVATE KEY ----\n', body, '\n---- END SSH2 ENCRYPTED PRIVATE KEY ----'),
    secret: body,
  })),
  ...[alnum(64)].map((body) => ({
    text: join('PuTTY-User-Key-', 'File-3: ssh-ed25519\nPrivate-Lines: 1\n', body, `\nPrivate-MAC: ${hex(64)}`),
    secret: body,
  })),
]

const tokens: readonly Sample[] = [
  whole(header, '.', claims, '.', url64(43)),
  whole(header, '.', claims, '.'),
  whole(header, '..', url64(43)),
  whole(
    base64url('{"alg":"RSA-OAEP","enc":"A256GCM"}'),
    '.',
    url64(60),
    '.',
    url64(16),
    '.',
    url64(30),
    '.',
    url64(22),
  ),
  inside('Bearer ', alnum(32)),
  inside('bearer ', url64(24), ' was refused'),
  inside('Authorization: Basic ', base64(`me:${alnum(10)}`)),
  inside('sent Basic ', base64(`aladdin:${alnum(10)}`), ' twice'),
  inside('Digest username="me", realm="x", response="', hex(32), '"'),
  inside('Authorization: AWS4-HMAC-SHA256 Credential=', `x/y, Signature=${hex(64)}`),
  inside('Cookie: sid=', alnum(24), '; theme=dark\nHost: x'),
  inside('Set-Cookie: session=', alnum(24), '; Path=/; HttpOnly'),
  inside('curl -H "Authorization: token ', alnum(24), '" https://host/'),
  inside('Proxy-Authorization: Negotiate ', alnum(40)),
]

const urls: readonly Sample[] = [
  inside('postgres://app:', alnum(12), '@db.internal:5432/app'),
  inside('mongodb+srv://u:', alnum(12), '@cluster0.example.net/?w=majority'),
  inside('redis://:', alnum(12), '@cache:6379/0'),
  inside('amqps://guest:', alnum(12), '@mq/vhost'),
  inside('https://x-access-token:', alnum(20), '@git.example.com/a/b.git'),
  inside('https://', hex(32), '@o1.ingest.example.io/42'),
  inside('mysql://root:', `p/${alnum(6)}#1`, '@localhost/app'),
  inside('app:', alnum(12), '@tcp(db:3306)/app'),
  inside('https://b.example.com/f?X-Amz-Expires=60&X-Amz-Signature=', hex(64)),
  inside('https://a.example.net/c?sv=2024&sig=', `${alnum(40)}%3D`, '&se=2026'),
  inside('https://h.example.com/cb#access_token=', alnum(30), '&state=x'),
  inside('https://maps.example.com/js?key=', alnum(30)),
  inside('https://hooks.slack.com/services/', `T${upper(8)}/B${upper(8)}/${alnum(24)}`),
  inside('https://discord.com/api/webhooks/', `${digits(18)}/${url64(68)}`),
]

const ibans: readonly string[] = [
  iban('DE', digits(18)),
  iban('GB', `WEST${digits(14)}`),
  iban('FR', `${digits(10)}A1B2${digits(9)}`),
  iban('NL', `ABNA${digits(10)}`),
  iban('ES', digits(20)),
  iban('IT', `X${digits(22)}`),
  iban('CH', digits(17)),
  iban('AT', digits(16)),
  iban('BE', digits(12)),
  iban('PL', digits(24)),
  iban('NO', digits(11)),
  iban('SE', digits(20)),
]

/** By kind: texts that hold a secret of it. */
export const secrets: Readonly<Record<string, readonly Sample[]>> = {
  key: keys,
  name: names,
  'private-key': privateKeys,
  token: tokens,
  url: urls,
  card: [
    ...[
      card('4', 16),
      card('51', 16),
      card('2221', 16),
      card('34', 15),
      card('6011', 16),
      card('3530', 16),
      card('300', 14),
      card('62', 17),
    ].map((number) => whole(number)),
    whole(grouped(card('4', 16), [4, 4, 4, 4], ' ')),
    whole(grouped(card('55', 16), [4, 4, 4, 4], '-')),
    whole(grouped(card('37', 15), [4, 6, 5], ' ')),
    inside('paid with ', card('4', 16), ', thanks'),
  ],
  iban: [
    ...ibans.map((account) => whole(account)),
    ...ibans.slice(0, 2).map((account) => whole((account.match(/.{1,4}/g) ?? []).join(' '))),
  ],
  email: [
    'ada@example.com',
    'ada.lovelace@example.co.uk',
    'a+tag@mail.example.org',
    'x_y@sub.example.dev',
    '1@example.io',
    'first-last@ex-ample.com',
    'ADA@EXAMPLE.COM',
    'o.brien@example.ie',
    'n%t@example.net',
    'team@example.museum',
  ].map((address) => inside('write to ', address, '.')),
}
