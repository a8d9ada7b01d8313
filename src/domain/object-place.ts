/**
 * The place of objects in an S3-compatible store, apart from the client, as every process reads its configuration.
 *
 * Test: test/store/objects/object-store.test.ts.
 */

/** The place of objects, and the keys to it. */
export interface ObjectStoreOptions {
  /** `s3://BUCKET` or `s3://BUCKET/PREFIX`. */
  readonly url: string;
  /** URL of the server without the bucket, which is the first part of a path. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** @throws RangeError when the URL is not `s3://BUCKET/PREFIX` */
export function placeIn(url: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)(?:\/(.*))?$/.exec(url) ?? [];
  if (bucket === undefined) throw new RangeError('a place of objects looks like s3://bucket/prefix');
  const prefix = path.replace(/\/$/, '');
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}
