/** The only door to transformers.js and the ONNX runtime. Nothing of it is loaded before its reports are off. */
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
