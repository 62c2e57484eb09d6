import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getCiphers } from 'node:tls';
import { opensslName, tlsRules } from './tls-rules.ts';

test('Java’s names of cipher suites become OpenSSL’s', () => {
  const names = {
    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
    TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
    TLS_DHE_RSA_WITH_AES_256_CBC_SHA256: 'DHE-RSA-AES256-SHA256',
    TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
    TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  };
  for (const [java, openssl] of Object.entries(names)) {
    assert.equal(opensslName(java), openssl);
    assert.ok(getCiphers().includes(openssl.toLowerCase()), openssl);
  }
});

test('allowed and denied lists make versions and ciphers', () => {
  assert.deepEqual(tlsRules(undefined, undefined), {
    minVersion: undefined,
    maxVersion: undefined,
    ciphers: undefined,
  });
  assert.deepEqual(tlsRules({ allowed: ['TLSv1.3'] }, undefined), {
    minVersion: 'TLSv1.3',
    maxVersion: 'TLSv1.3',
    ciphers: undefined,
  });
  const allowed = ['TLS_AES_128_GCM_SHA256', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'];
  const rules = tlsRules(undefined, { allowed, denied: [allowed[0]!] });
  assert.equal('ciphers' in rules && rules.ciphers, 'ECDHE-RSA-AES128-GCM-SHA256');
  const rest = tlsRules(undefined, { denied: ['TLS_AES_128_GCM_SHA256'] });
  assert.ok('ciphers' in rest && rest.ciphers?.includes('TLS_AES_256_GCM_SHA384'));
  assert.ok('ciphers' in rest && !rest.ciphers?.includes('TLS_AES_128_GCM_SHA256'));
});

test('what OpenSSL has no more, or never had, may be denied; what it has is then not spoken, however it is written', () => {
  const gone = [
    'TLS_RSA_WITH_RC4_128_SHA',
    'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
    'TLS_ECDHE_ECDSA_WITH_AES_256_CCM',
  ];
  const all = tlsRules(undefined, { denied: gone });
  assert.deepEqual(all, tlsRules(undefined, {}));
  const offered = 'ciphers' in all ? all.ciphers!.split(':') : [];
  const iana = [
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    'TLS_DHE_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256',
    'ecdhe-rsa-aes256-sha384',
  ];
  for (const suite of iana) {
    const rules = tlsRules(undefined, { denied: [suite, ...gone] });
    const left = 'ciphers' in rules ? rules.ciphers!.split(':') : [];
    assert.equal(left.length, offered.length - 1, suite);
  }
});

test('an allowed suite that is not spoken is named as it was written', () => {
  const rules = tlsRules(undefined, { allowed: ['TLS_AES_128_GCM_SHA256', 'TLS_RSA_WITH_RC4_128_SHA'] });
  assert.match('problem' in rules ? rules.problem : '', /TLS_RSA_WITH_RC4_128_SHA/);
});

test('lists that leave nothing, or have what nobody knows, are refused by their key', () => {
  assert.deepEqual(
    [
      tlsRules({ allowed: ['TLSv1.1'] }, undefined),
      tlsRules(undefined, { allowed: ['NO_SUCH'] }),
      tlsRules(undefined, { allowed: ['TLS_AES_128_GCM_SHA256'], denied: ['TLS_AES_128_GCM_SHA256'] }),
    ].map((rules) => 'key' in rules && rules.key),
    ['protocols', 'cipherSuites', 'cipherSuites'],
  );
});
