/**
 * The only entrance to transformers.js and the ONNX runtime. Keeps the invariant that nothing of either is loaded
 * before its reports are turned off.
 *
 * Test: test/reader/embedding/telemetry.test.ts.
 */
import './telemetry.ts';
export {
  AutoModel,
  AutoModelForCausalLM,
  AutoModelForTokenClassification,
  AutoTokenizer,
  env,
  pipeline,
  Tensor,
  type FeatureExtractionPipeline,
} from '@huggingface/transformers';
