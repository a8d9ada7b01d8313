import { deepEqual, equal, match } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultOfUrl, isPublicAddress } from '../../../src/doors/alerts/webhook-url.ts';

const PRIVATE = [
  'http://127.0.0.1/',
  'http://127.1/',
  'http://2130706433/',
  'http://0x7f.0.0.1/',
  'http://017700000001/',
  'http://0.0.0.0:8080/',
  'http://10.1.2.3/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.1.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://100.64.0.1/',
  'http://[::1]/',
  'http://[::]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:a00:1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
  'http://[fd00::1]/',
  'http://[fe80::1]/',
  'http://localhost:9000/hook',
  'http://LOCALHOST./hook',
  'http://nats.localhost/',
  'http://224.0.0.1/',
  'http://255.255.255.255/',
  // IPv4 in IPv6, by every way that there is.
  'http://[::ffff:0:127.0.0.1]/',
  'http://[::ffff:0:a9fe:a9fe]/',
  'http://[::127.0.0.1]/',
  'http://[::a00:1]/',
  'http://[::ffff:a83f:8110]/',
  'http://[64:ff9b::10.0.0.1]/',
  'http://[64:ff9b:1::7f00:1]/',
  'http://[64:ff9b:1:fffe::1]/',
  'http://[2002:a9fe:a9fe::1]/',
  'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  'http://[2001::1]/',
  // What answers in clouds about the machine itself.
  'http://168.63.129.16/machine?comp=goalstate',
  'http://[::ffff:168.63.129.16]/',
  'http://169.254.170.2/v2/credentials',
  'http://100.100.100.200/latest/meta-data/',
  'http://192.0.0.192/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  'http://[fd20:ce::254]/',
  // The rest of the registries, and what is nobody's.
  'http://192.31.196.1/',
  'http://192.175.48.1/',
  'http://[100:0:0:1::1]/',
  'http://[2620:4f:8000::1]/',
  'http://[3fff::1]/',
  'http://[5f00::1]/',
  'http://[::2]/',
  'http://[4000::1]/',
  'http://[200::1]/',
  'http://[ff0e::1]/',
];

describe('the URL of a webhook', () => {
  it('may lead to whatever is reachable from everywhere', () => {
    for (const url of [
      'https://example.com/hook?a=b',
      'http://example.com:8080',
      'https://93.184.216.34/hook',
      'https://[2606:2800:220:1::1]/',
      'https://172.32.0.1/',
      'https://168.63.129.15/',
      'https://[2001:4860:4860::8888]/',
      'https://[2a00:1450:4001:80b::200e]/',
      'https://[2620:4f:8001::1]/',
      'https://bücher.example/',
    ])
      equal(faultOfUrl(url, false), null, url);
  });

  it('may not lead to loopback, private and link-local addresses, however they are written', () => {
    for (const url of PRIVATE) match(faultOfUrl(url, false) ?? '', /WEBHOOK_ALLOW_PRIVATE=true/, url);
  });

  it('may lead there when the operator says so', () => {
    deepEqual(
      PRIVATE.filter((url) => faultOfUrl(url, true) !== null),
      [],
    );
  });

  it('is http or https, without credentials, and no longer than it needs to be', () => {
    for (const [url, fault] of [
      ['ftp://example.com/', /https:/],
      ['file:///etc/passwd', /https:/],
      ['javascript:alert(1)', /https:/],
      ['//example.com', /URL/],
      ['example.com', /URL/],
      ['', /URL/],
      ['https://', /URL/],
      ['https://ada:secret@example.com/', /user or a password/],
      ['https://ada@example.com/', /user or a password/],
      [`https://example.com/${'a'.repeat(2048)}`, /2048/],
    ] as const)
      match(faultOfUrl(url, true) ?? '', fault, url);
  });

  it('is checked by address as well: what is no public address is refused', () => {
    for (const address of ['127.0.0.1', '::ffff:10.0.0.1', 'fe80::1%eth0', '::1', '', 'example.com'])
      equal(isPublicAddress(address), false, address);
    for (const address of ['8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8'])
      equal(isPublicAddress(address), true, address);
  });
});
