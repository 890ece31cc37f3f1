import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { loaded } from '../../../conformance/mcp-check.ts'

const root = mkdtempSync(join(tmpdir(), 'guard-secrets-'))
after(() => rmSync(root, { recursive: true, force: true }))
const options = { args: ['/path'], inside: [root] }

const SECRET =
  `.env .env.local .env.production prod.env .envrc .env~ .ENV .Env.Local .env.swp .env.bak web/.env a/b/.env.test .dev.vars
a.pem server.key master.key config/master.key id_rsa id_ed25519 deploy/id_ecdsa id_rsa.bak .ssh .ssh/id_rsa .ssh/config a.p12 b.pfx c.jks
d.keystore e.kdbx release.keystore AuthKey_X.p8 putty.ppk wallet.dat .gnupg/secring.gpg .npmrc web/.npmrc .yarnrc.yml .netrc _netrc
.git-credentials .pypirc .aws/credentials .aws/config .docker/config.json .kube/config kubeconfig prod.kubeconfig credentials.json
credentials credentials.yml aws_credentials.csv .credentials service-account.json gcp-service-account-prod.json serviceAccountKey.json
x-firebase-adminsdk-1.json client_secret_1.apps.json gcp-key.json terraform.tfstate terraform.tfstate.backup infra/prod.tfvars secrets.yml
secrets.yaml secrets.json config/secrets.toml app-secrets.json secrets/db.json .secrets/token secrets.yml.old tokens.json .htpasswd .pgpass
.my.cnf .git/config .git/modules/x/config .vault-token .vault_pass .bash_history .zsh_history .psql_history .config/gh/hosts.yml
.config/gcloud/access_tokens.db .claude.json .claude/.credentials.json .codex/auth.json auth.json wp-config.php local.settings.json
.m2/settings.xml .cargo/credentials.toml .terraform.d/credentials.tfrc.json .terraformrc .s3cfg .boto nuget.config NuGet.Config
guard-config.yml guard-config.yml~ guard-config.prod.yml guard.db guard.db-wal guard.db-shm .prod.env.swp #prod.env# .#id_rsa ._id_rsa
id_rsa.1 secrets%2eyml %2eenv .ｅnv .netrc.save api_key.txt password.txt`
    .split(/\s+/)
    .concat('credentials copy.json', 'id_rsa (1)')

const ORDINARY =
  `. README.md package.json src/index.ts src/env.ts src/env.d.ts .env.example .env.sample .env.template src/secrets.ts
src/secrets/manager.go src/credentials.py credentials/index.ts src/password-form.tsx src/tokens.ts design-tokens.scss tokens.ts keys.ts
docs/secrets.md docs/keys.md public/monkey.json keyboard.json .gitignore .git/HEAD .gitattributes .editorconfig .github/workflows/ci.yml
.docker/Dockerfile Dockerfile docker-compose.yml tsconfig.json config.yml config/database.yml environment.ts history.md src/history.ts
.eslintrc.json .prettierrc .nvmrc .tool-versions Cargo.toml go.sum main.tf variables.tf guard.ts guardian.yml key.ts
src/auth.ts certificate.md wallet.ts src/wallet/index.ts id_rsa.pub`.split(/\s+/)

describe('the set of secret files', () => {
  for (const deny of ['secrets', ['secrets', '**/*.log']] as const) {
    it(`is refused by deny: ${JSON.stringify(deny)}`, async () => {
      const find = await loaded(path, { ...options, deny: typeof deny === 'string' ? deny : [...deny] })
      for (const name of SECRET) assert.equal((await find({ path: name })).length, 1, name)
      for (const name of ORDINARY) assert.deepEqual(await find({ path: name }), [], name)
    })
  }
  it('says what it is', async () => {
    const find = await loaded(path, { ...options, deny: 'secrets' })
    assert.deepEqual(await find({ path: '.npmrc' }), [
      { pointer: '/path', reason: 'is a file that may hold secrets', certain: true },
    ])
  })
  it('is seen through a link with another name', async () => {
    writeFileSync(join(root, '.env'), '')
    symlinkSync('.env', join(root, 'notes.txt'))
    const find = await loaded(path, { ...options, deny: 'secrets' })
    assert.equal((await find({ path: 'notes.txt' })).length, 1)
  })
  it('leaves a folder of that name in a list what it was', async () => {
    const find = await loaded(path, { ...options, deny: ['secrets'] })
    assert.equal((await find({ path: 'secrets/a.ts' })).length, 1)
  })
})

describe("the gateway's own files", () => {
  const own = join(root, 'state')
  mkdirSync(own)
  for (const name of ['my.yml', 'data.sqlite']) writeFileSync(join(own, name), '')
  symlinkSync(own, join(root, 'linked'))
  const own_files = [join(own, 'my.yml'), join(own, 'data.sqlite')]

  it('are refused by every path check, whatever they are called', async () => {
    const find = await loaded(path, options, { own_files })
    for (const name of [
      'state/my.yml',
      'state/data.sqlite',
      'state/data.sqlite-wal',
      'linked/my.yml',
      'state/../state/my.yml',
    ])
      assert.deepEqual(
        (await find({ path: name })).map(({ reason }) => reason),
        ['is a file of the gateway itself'],
        name,
      )
    for (const name of ['state/other.yml', 'my.yml', 'state']) assert.deepEqual(await find({ path: name }), [], name)
  })
})
