import { equal, match, ok } from 'node:assert/strict';
import { describe, it } from 'node:test';
import { htmlOf } from '../../../src/doors/alerts/html.ts';

const HOSTILE = `<img src=x onerror="alert(1)"> & 'quoted' </title><script>`;

describe('a message as HTML', () => {
  it('holds everything as text, whatever it looks like', () => {
    const html = htmlOf({
      title: HOSTILE,
      sections: [{ lines: [HOSTILE] }, { title: HOSTILE, lines: [HOSTILE, 'second\nline'] }],
      link: 'https://undertone.example.com/?instance=1&view="><b>',
    });
    ok(!/<(?:img|script|b)\b/.test(html), html);
    equal(html.match(/&lt;img src=x/g)?.length, 5);
    match(html, /<li[^>]*>second line<\/li>/);
    match(html, /href="https:\/\/undertone.example.com\/\?instance=1&amp;view=&quot;&gt;&lt;b&gt;"/);
  });

  it('asks nobody for anything, and links nowhere without an address of the web', () => {
    const html = htmlOf({ title: 'A week', sections: [{ lines: ['One.'] }], link: '/?instance=1' });
    ok(!/href|src=|url\(|@import/.test(html), html);
    // oxlint-disable-next-line no-script-url
    ok(!/href/.test(htmlOf({ title: 'A', sections: [], link: 'javascript:alert(1)' })));
  });
});
