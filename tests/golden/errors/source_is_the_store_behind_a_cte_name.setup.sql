USE ppdm_owner;
