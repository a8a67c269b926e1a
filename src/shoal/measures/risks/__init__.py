"""What somebody can find out about a person from a table: re-identification, beliefs, attacks."""

from shoal.measures.risks.reidentification import AttributeRisk, Risk, assess, attribute_risk

__all__ = ["AttributeRisk", "Risk", "assess", "attribute_risk"]
