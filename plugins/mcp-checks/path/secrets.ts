import type { PicomatchOptions } from 'picomatch'

/** Extensions of data files. Code files with such names contain no secrets. */
const DATA = '{json,json5,yml,yaml,toml,ini,cfg,conf,env,properties,txt,csv,xml,plist,db,sqlite,enc,age,gpg,tfrc.json}'

/** Names of credential files in any folder, in lower case. */
const NAMES = [
  // environments
  ...['.env', '.env.*', '*.env', '.envrc', '.dev.vars', '.dev.vars.*', '.flaskenv', 'env.local'],
  // private keys, key stores, wallets
  ...['id_{rsa,dsa,ecdsa,ed25519,xmss}*', '*.{pem,key,p12,pfx,p8,pk8,ppk,der,jwk}', 'ssh_host_*_key'],
  ...['*.{jks,jceks,bcfks,keystore,truststore,kdb,kdbx,keychain,keychain-db,agekey}', '*.{gpg,asc,pgp}', 'secring.*'],
  ...[
    '*.{ovpn,rdp}',
    'wallet.{dat,json}',
    '*.wallet',
    'keystore.properties',
    'keys.txt',
    '{*-,*_,*.,}{key,keyfile}.json',
  ],
  // version control and package registries
  ...[
    '.npmrc',
    '.yarnrc',
    '.yarnrc.yml',
    '.pypirc',
    'pip.conf',
    '.netrc',
    '_netrc',
    '.git-credentials',
    '.gem-credentials',
  ],
  ...[
    'auth.json',
    '.dockercfg',
    '.dockerconfigjson',
    'nuget.config',
    '.hgrc',
    '.bunfig.toml',
    '.gitconfig',
    '.gitcookies',
  ],
  // clouds, clusters, vaults and infrastructure
  ...[
    '.{credentials,credential,creds}',
    '{credentials,credential,creds}',
    `{.,*-,*_,*.,}{credentials,credential,creds}.${DATA}`,
  ],
  ...['*service{-,_,}account*.json', '*adminsdk*.json', '*client{-,_,}secret*.json', 'application_default_*.json'],
  ...[
    '*.tfstate',
    '*.tfstate.*',
    '*.tfvars',
    '*.tfvars.json',
    '.terraformrc',
    'terraform.rc',
    '.boto',
    '.s3cfg',
    '.passwd-s3fs',
  ],
  ...['kubeconfig', 'kubeconfig.*', '*.kubeconfig', '.vault-token', '.vault{-,_,}pass*', '{vault,ansible}{-,_}pass*'],
  ...[
    '{.,}rclone.conf',
    'local.settings.json',
    'accesstokens.json',
    'azureprofile.json',
    '*.publishsettings',
    'sa.json',
  ],
  // databases and servers
  ...[
    '.pgpass',
    'pgpass.conf',
    '.my.cnf',
    '.mylogin.cnf',
    '.mongorc.js',
    '{.,}htpasswd',
    '.htdigest',
    'shadow',
    'gshadow',
  ],
  ...[
    'wp-config.php',
    'master.passwd',
    '.smbcredentials',
    '.msmtprc',
    '.fetchmailrc',
    'tnsnames.ora',
    '.ldaprc',
    '.databrickscfg',
  ],
  // names with "secret"
  ...['{.,}{secret,secrets,password,passwords,passwd,token,tokens,apikey,apikeys,api_key,api_keys,api-key,api-keys}'],
  ...[
    `{.,*-,*_,*.,}{secret,secrets,password,passwords,token,tokens,apikey,apikeys,api_key,api_keys,api-key,api-keys}.${DATA}`,
  ],
  // histories of shells and clients
  ...['.*_history', '.*history', '.viminfo', '.lesshst'],
  // agents and their tools
  ...['.claude.json', 'oauth_creds.json', '.curlrc', '.wgetrc'],
  // the gateway
  ...['guard-config*', 'guard.db*', 'guard.sqlite*'],
]

/** Paths of credential files with neutral names. A folder includes its contents. */
const PLACES = [
  ...[
    '.ssh',
    '.gnupg',
    '.aws',
    '.azure',
    '.oci',
    '.kube',
    '.docker/{config.json,contexts,machine}',
    '.vault',
    '.secrets',
    '.sops',
  ],
  ...['.config/{gcloud,gh,glab-cli,hub,rclone,op,doctl,sops,google-chrome,chromium}', '.config/containers/auth.json'],
  ...['.git/{config,credentials}', '.git/modules/**/config', '.password-store', '.terraform.d', '.cargo/credentials*'],
  ...['.m2/settings*.xml', '.gradle/gradle.properties', '.gemini/oauth*', '.minikube/{certs,profiles}'],
  ...['.local/share/keyrings', 'library/keychains', '.mozilla', '.thunderbird', '.bitcoin', '.ethereum', '.electrum'],
  ...[
    '.fly/config.yml',
    '.netlify/config.json',
    '.bash_sessions',
    'run/secrets',
    `secrets/**/*.${DATA}`,
    'proc/*/environ',
  ],
]

/** Affixes of copies that editors, people and tools make. */
const COPY =
  /(?:~|\.(?:bak|backup|old|orig|save|saved|swp|swo|swn|tmp|temp|copy|dist|prev|rej|[0-9]+)|[ _-]copy|\s*\([0-9]+\)|#)+$/
const COPY_HEAD = /^(?:\.?#|\._|copy of )/
const COPY_WITHIN = /(?:[ ._-](?:copy|bak|backup|old|orig)|\s*\([0-9]+\))(?=\.[a-z0-9]+$)/

/** The name, and the name of the original if it is a copy. Swap files of editors add a leading dot. */
const named = (name: string): readonly string[] => {
  const plain = name.replace(COPY, '').replace(COPY_HEAD, '').replace(COPY_WITHIN, '')
  return plain === name ? [name] : [name, plain, plain.replace(/^\./, '')]
}

/** Harmless files with such names. */
const HARMLESS = /^\.env\.(?:example|sample|template|dist|defaults)$|^id_[a-z0-9_]+\.pub$/

/** Returns a predicate for files that can contain secrets, by name or path with slashes. Case is ignored. */
export const secretFiles = async (): Promise<(path: string) => boolean> => {
  const { default: picomatch } = await import('picomatch')
  const options: PicomatchOptions = { dot: true, nocase: true }
  const isName = picomatch(NAMES, options)
  const isPlace = picomatch(
    PLACES.flatMap((place) => [place, `**/${place}`, `${place}/**`, `**/${place}/**`]),
    options,
  )
  return (path) => {
    const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
    if (isPlace(path)) return true
    return !HARMLESS.test(name) && named(name).some((one) => isName(one))
  }
}

/** The name of this set in a policy. */
export const SECRETS = 'secrets'
