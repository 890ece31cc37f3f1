import { characters, type Random, uuid } from './shapes.ts'

type Make = (random: Random) => string

const of =
  (alphabet: string, length: number, before = '', after = ''): Make =>
  (random) =>
    before + characters(random, alphabet, length) + after
const base64 = (random: Random, bytes: number): string =>
  Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256))).toString('base64')
const number = (random: Random, bits: number): string =>
  String(BigInt(`0b${Array.from({ length: bits }, () => (random() < 0.5 ? '0' : '1')).join('')}`))
const ULID = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const ulid: Make = (random) => `01${Array.from({ length: 24 }, () => ULID.charAt(Math.floor(random() * 32))).join('')}`

/** Identifiers, digests and numbers, by what they are. */
const identifiers: Readonly<Record<string, Make>> = {
  'an MD5 digest': of('hex', 32),
  'a SHA-1 digest': of('hex', 40),
  'a SHA-256 digest': of('hex', 64),
  'a SHA-512 digest': of('hex', 128),
  'a digest with its name': of('hex', 64, 'sha256:'),
  'a short commit': of('hex', 8),
  'a UUID': uuid,
  'a UUID in capitals': (random) => uuid(random).toUpperCase(),
  'a ULID': ulid,
  'a nano id': of('url64', 21),
  'a KSUID': of('alnum', 27),
  'a snowflake': of('digit', 17, '17'),
  'a trace': of('hex', 32),
  'a span': of('hex', 16),
  'a trace parent': (random) => `00-${characters(random, 'hex', 32)}-${characters(random, 'hex', 16)}-01`,
  'a decimal trace, named': (random) => `trace_id=${number(random, 63)}`,
  'a run of ours': of('hex', 32, 'tr_'),
  'a span of ours': of('hex', 16, 'sp_'),
  'a session of ours': of('lower', 26, 'ses_'),
  'a session of ours, named': of('lower', 26, 'session: ses_'),
  'a request of ours': of('lower', 26, 'guardreq_'),
  'a message id': of('alnum', 22, 'msg_01'),
  'a tool use id': of('alnum', 22, 'toolu_01'),
  'a call id': of('alnum', 24, 'call_'),
  'a completion id': of('alnum', 29, 'chatcmpl-'),
  'a response id': of('hex', 50, 'resp_'),
  'a reasoning id': of('hex', 50, 'rs_'),
  'a request id': of('alnum', 24, 'req_01'),
  'a file id': of('alnum', 24, 'file-'),
  'a customer id': of('alnum', 14, 'cus_'),
  'a payment id': of('alnum', 24, 'pi_'),
  'a publishable key': of('alnum', 24, 'pk_test_'),
  'a Slack channel': of('upper', 9, 'C0'),
  'a resource name': of('digit', 12, 'arn:aws:iam::', ':role/deploy'),
  'an instance': of('hex', 17, 'i-0'),
  'a pod': (random) => `gateway-${characters(random, 'hex', 9)}-${characters(random, 'lower', 5)}`,
  'a container': of('hex', 12),
  'an entity tag': of('hex', 32, 'etag: W/"', '"'),
  'a cache key': of('hex', 40, 'node-cache-Linux-x64-npm-'),
  'a chunk': of('url64', 8, 'assets/index-', '.js'),
  'a hashed chunk': of('hex', 20, 'vendor-', '.js'),
  'a class of CSS': of('alnum', 5, 'Button_primary__'),
  'an integrity value': (random) => `sha512-${base64(random, 64)}`,
  'a nonce': (random) => `nonce-${base64(random, 16)}`,
  'a code challenge': of('url64', 43),
  'a colour': of('hex', 6, '#'),
  'a time': (random) => new Date(1.78e12 + Math.floor(random() * 1e10)).toISOString(),
  nanoseconds: of('digit', 17, '17'),
  'an address of IPv6': (random) => Array.from({ length: 8 }, () => characters(random, 'hex', 4)).join(':'),
  'a hardware address': (random) => Array.from({ length: 6 }, () => characters(random, 'hex', 2)).join(':'),
  'a version': (random) =>
    `v${characters(random, 'digit', 1)}.${characters(random, 'digit', 2)}.0-rc.1+build.${characters(random, 'digit', 8)}`,
  'a store path': of('lower', 32, '/nix/store/', '-nodejs-24.21.0'),
  'a document': of('url64', 44, 'https://docs.example.com/d/', '/edit'),
  'a module sum': (random) => `golang.org/x/net v0.30.0 h1:${base64(random, 32)}`,
  'a lock file line': (random) => `      "integrity": "sha512-${base64(random, 64)}",`,
  'a yarn resolution': of('hex', 40, 'resolved "https://registry.yarnpkg.com/ms/-/ms-2.1.3.tgz#', '"'),
  'a checksum of cargo': of('hex', 64, 'checksum = "', '"'),
  'a hash of pip': of('hex', 64, '    --hash=sha256:'),
  'an image as data': (random) => `data:image/png;base64,iVBORw0KGgo${base64(random, 120)}`,
  'an image': (random) => `/9j/4AAQSkZJRg${base64(random, 300)}`,
  'bytes in base64': (random) => base64(random, 90),
  'bytes in base64url': (random) => base64(random, 90).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
  'a source map': (random) =>
    `"mappings":"AAAA;${Array.from({ length: 30 }, () => characters(random, 'letter', 4)).join(',')}"`,
  'a public key of SSH': (random) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${base64(random, 32)} ada-laptop`,
}

const schema = JSON.stringify({
  type: 'object',
  properties: {
    user: { type: 'string' },
    password: { type: 'string', minLength: 8, description: 'The password of the user.' },
    api_key: { type: ['string', 'null'], format: 'uuid' },
    session: { type: 'string', pattern: '^ses_' },
    auth: { oneOf: [{ type: 'string' }, { type: 'null' }] },
    token: { $ref: '#/$defs/token' },
  },
  required: ['user', 'password'],
})

/** Texts of ordinary work that speak of secrets, or look like some, and hold none. */
const texts: readonly string[] = [
  schema,
  `const parameters = ${schema}`,
  JSON.stringify({ pwd: '/home/dev/project' }),
  JSON.stringify({ pwd: 'C:\\Users\\ada\\work', OLDPWD: '/tmp' }),
  'PWD=/workspace\nOLDPWD=/\nSHELL=/bin/bash',
  '$ pwd\n/home/ada/src/gateway\n',
  JSON.stringify({ session: 'ses_7ndkq5xk2vbq4z6w3mzt5rjh2a', trace_id: '4009956296007089217' }),
  JSON.stringify({ session_id: 'f47ac10b-58cc-4372-a567-0e02b2c3d479', auth: 'required', signature: 'optional' }),
  JSON.stringify({ auth: { type: 'bearer' }, pass: true, pin: 13, seed: 42, tokens: ['the', 'cat'] }),
  JSON.stringify({ signature: 'function login(user: string): Promise<Session>', session: 'refactor-gateway' }),
  JSON.stringify({ pass: 12, fail: 0, skipped: 1, seed: 1337, sig: 'SIGTERM' }),
  JSON.stringify({ session: '2026-11-26T10:00:00Z', auth: 'oauth2', bearer: false }),
  'The session is over when the agent closes it; a signature is not needed.',
  'Every password must be at least 12 characters, and the token expires after an hour.',
  'Set the API key in the environment, then start the gateway with `guard gateway run`.',
  'Authentication: pass the token as a header. Authorization is checked later.',
  'PASS test/core/redact.test.ts (12 tests)\nFAIL test/core/store.test.ts\n# pass 340\n# fail 2',
  '--- PASS: TestLogin2 (0.00s)\nok  \texample.com/auth\t0.012s',
  'tests 340, pass: 338, fail: 2, skipped: 0, pass rate: 99.4%',
  'first_pass=true second_pass=false render_pass: shadow multipass: off',
  'src/auth/session.ts:12:5:error:noUnusedVariables',
  'core/redact.ts:120:14: error TS2345: Argument of type string is not assignable.',
  'root:x:0:0:root:/root:/bin/bash\nada:x:1000:1000:Ada:/home/ada:/bin/zsh',
  'listening on 127.0.0.1:8787, upstream api.example.com:443:tcp:open:https',
  'const session = await openSession({ auth, signature: sign(body), seed: 7 })',
  'export const verify = (signature: Buffer, key: PublicKey): boolean => crypto.verify(null, body, key, signature)',
  'if (auth === undefined) throw new Error("auth is missing")',
  "password: z.string().min(8), token: z.string().optional(), apiKey: env('API_KEY'),",
  'env:\n  TOKEN: $' + '{{ secrets.DEPLOY_TOKEN }}\n  AUTH: $' + '{{ github.token }}',
  'variable "db_password" {\n  type      = string\n  sensitive = true\n}\npassword = var.db_password',
  'machine learning password managers, and default login pages of routers',
  'docker run -p 8080:80 --name web nginx\nssh -p 2222 host\nmkdir -p /tmp/a/b',
  'mysql -u root -p mydb < dump.sql\nmysqldump --all-databases -u root -p > dump.sql',
  'tar -xpf a.tar | grep -p foo; cp -a src dst; zip -r a.zip src; 7z x a.7z -o/tmp',
  'git log --oneline\n3f2a1b9 Add session keys\n9c8d7e6 Fix auth redirect',
  'set -euo pipefail\nset password policy to strict\nset token expiry',
  'ENV NODE_ENV production\nENV PATH /usr/local/bin:$PATH\nARG TOKEN',
  'CREATE TABLE users (id uuid, password text NOT NULL, session text);',
  'SELECT password, token FROM users WHERE session = $1 AND pin = ?',
  'git checkout -b sk-refactor-2024-session-handling\nnpm_config_registry=https://registry.npmjs.org',
  'feature/api-key-rotation-2026-11-26-follow-up and task-management-and-scheduling-board',
  'arr[1m], matrix[0;1], list[3] and \u001b[32mok\u001b[0m \u001b[1mdone\u001b[22m',
  '\\u001b[32m\u2713\\u001b[39m 12 passed \\e[2m(3.1s)\\e[0m',
  '-rw-r--r-- 1 ada ada 4096 Nov 26 10:00 id_ed25519.pub',
  'model: claude-sonnet-4-5-20250929, gpt-5.2-codex-2026-01-15, tokens: 1200 in, 35 out',
  'Cannot find module ./session-key-store in /home/ada/app/node_modules/@scope/auth-token/dist/index.js',
  '{"max_tokens":4096,"input_tokens":1200,"stop":["\\n\\nHuman:"],"seed":null}',
  'function a(e,t){var n=e.s,r=t.auth,o=n?n.pass(r):0;return o&&(e.k=t.sig,e.x=r),o}',
  '.btn-primary-large{color:#1a2b3c}.icon_sk-button__x7Yz9{display:none}',
  'curl -s https://example.com/health -H "Accept: application/json" -u "$USER:$PASSWORD"',
  'redis-cli -a "$REDIS_PASSWORD" ping; sshpass -p "$PASS" ssh host; mysql -p"$MYSQL_PWD"',
  'export TOKEN=$(gh auth token) API_KEY=<your key> SECRET=changeme',
  'login_attempts: 3, login page -p is not an option, password-less login for admins',
  'the secret of the gateway: it waits. The key to it all is patience, the auth story is long.',
]

/** A look-alike, and what it is. */
export interface LookAlike {
  readonly what: string
  readonly text: string
}

/** How identifiers stand in what agents read. */
const frames: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify({ id: text }),
  (text) => `the run ${text} ended`,
  (text) => `\u001b[33m${text}\u001b[0m`,
  (text) => `- \`${text}\`\n`,
]

/** Look-alikes made with `random`: each kind of identifier several times, each text once by itself and once as a JSON string. */
export const lookAlikeTexts = (random: Random): readonly LookAlike[] => [
  ...Object.entries(identifiers).flatMap(([what, make]) =>
    frames.flatMap((frame) => [1, 2, 3, 4].map(() => ({ what, text: frame(make(random)) }))),
  ),
  ...texts.flatMap((text) =>
    [text, JSON.stringify({ output: text })].map((written) => ({ what: 'a text', text: written })),
  ),
]
