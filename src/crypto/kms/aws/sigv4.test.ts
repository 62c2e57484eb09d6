/** AWS's published examples: its Signature Version 4 test suite, and the one in its guide to signing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpRequest } from '../http/client.ts';
import { signRequest } from './sigv4.ts';

const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const at = new Date('2015-08-30T12:36:00Z');
const suite = { region: 'us-east-1', service: 'service', at };
const url = (path: string) => new URL(path, 'https://example.amazonaws.com/');

const VECTORS: [string, HttpRequest, string, string][] = [
  [
    'get-vanilla',
    { method: 'GET', url: url('/') },
    'host;x-amz-date',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
  [
    'post-vanilla',
    { method: 'POST', url: url('/') },
    'host;x-amz-date',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'get-vanilla-query-order-key-case',
    { method: 'GET', url: url('/?Param2=value2&Param1=value1') },
    'host;x-amz-date',
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'post-x-www-form-urlencoded',
    {
      method: 'POST',
      url: url('/'),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'Param1=value1',
    },
    'content-type;host;x-amz-date',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
];

for (const [name, request, headers, signature] of VECTORS)
  test(`${name} of the test suite`, () => {
    const scope = 'AKIDEXAMPLE/20150830/us-east-1/service/aws4_request';
    const { authorization } = signRequest(request, credentials, suite);
    assert.equal(
      authorization,
      `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=${headers}, Signature=${signature}`,
    );
  });

test('the example of the guide', () => {
  const request: HttpRequest = {
    method: 'GET',
    url: new URL('https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08'),
    headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
  };
  const { authorization } = signRequest(request, credentials, { region: 'us-east-1', service: 'iam', at });
  assert.match(authorization!, /Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7$/);
});

test('a session’s token is signed, too', () => {
  const request: HttpRequest = { method: 'GET', url: url('/') };
  const headers = signRequest(request, { ...credentials, sessionToken: 'token' }, suite);
  assert.equal(headers['x-amz-security-token'], 'token');
  assert.match(headers['authorization']!, /SignedHeaders=host;x-amz-date;x-amz-security-token,/);
});
